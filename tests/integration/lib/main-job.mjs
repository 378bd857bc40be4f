// main-job.mjs - what Paige is for, step by step: a learner works in the editor, Claude Code sees the unsaved work and points
// into it, and everything stands in the action log. The tests run these steps, also with workers killed between them, and
// scripts/transcript prints them.
import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { until } from './wait.mjs';

const EDIT = '// Not saved yet: only the editor and Claude know this line.\n';

/**
 * The steps, each {title, run}, for clients of one daemon and two text files of its project, as relative paths. `disturbed`:
 * workers may be killed between the steps.
 */
export function mainJob({ daemon, editor, mcp, edited, shown, disturbed = true }) {
  const onDisk = (name) => fs.readFileSync(path.join(daemon.projectDir, name), 'utf8');
  const before = onDisk(edited);
  const after = EDIT + before;

  const ask = (...request) =>
    until(`an answer to ${request[0]}`, async () => {
      await until('a connected editor', () => editor.connected);
      return editor.ask(...request);
    });
  const same = (payload) => payload.path === edited;

  // A step that asks Claude to steer the editor repeats until the editor was told: what is said while the gateway is being
  // replaced reaches only windows that are connected.
  const shownBy = (type, tool, input, where) =>
    until(`${type} in the editor`, async () => {
      await until('a connected editor', () => editor.connected);
      const answer = await mcp.ok(tool, input);
      const message = await editor.next(type, { where, ms: 1000 }).catch(() => null);
      return message && { answer, message };
    });

  return [
    {
      title: 'The editor has connected and was given the tree of the project',
      async run() {
        assert.equal(editor.init.protocolVersion, 1);
        assert.match(editor.init.epoch, /./);
        const { payload } = await editor.next('fs:tree');
        const paths = [];
        for (const nodes = [payload.root]; nodes.length; ) {
          const node = nodes.pop();
          paths.push(node.path);
          nodes.push(...(node.children ?? []));
        }
        assert.ok(paths.includes(edited) && paths.includes(shown), `${edited} and ${shown} in the tree`);
        return { init: editor.init, tree: `${paths.length} entries` };
      },
    },
    {
      title: 'The learner picks an issue: a coaching session starts',
      async run() {
        const { payload } = await ask('session:start', { issueNumber: 42 }, 'session:started');
        const rows = await daemon.sql("SELECT id, issue_number FROM sessions WHERE status = 'active'");
        assert.deepEqual(rows, [{ id: payload.sessionId, issue_number: 42 }]);
        return payload;
      },
    },
    {
      title: `The learner opens ${edited}`,
      async run() {
        const { payload } = await ask('file:open', { path: edited }, ['fs:content', 'connection:error'], same);
        assert.equal(payload.content, before);
        return { ...payload, content: `${payload.content.length} characters` };
      },
    },
    {
      title: 'The learner types, and does not save',
      async run() {
        await until('a connected editor', () => editor.connected);
        const edit = () => editor.send('buffer:update', { path: edited, content: after, cursorPosition: { line: 2, column: 1 }, selections: [] });
        edit();
        // Edits are not acknowledged. An editor repeats its text when its connection was replaced.
        let { connections } = editor;
        await until('the buffer as Claude sees it', async () => {
          if (editor.connected && editor.connections !== connections) {
            connections = editor.connections;
            edit();
          }
          return (await mcp.ok('paige_get_buffer', { path: edited }))?.content === after;
        });
        assert.equal(onDisk(edited), before);
        return { sent: 'buffer:update', onDisk: 'unchanged' };
      },
    },
    {
      title: 'Claude reads the unsaved text',
      async run() {
        const buffer = await mcp.ok('paige_get_buffer', { path: edited });
        assert.equal(buffer.content, after);
        assert.equal(buffer.dirty, true);
        assert.deepEqual(buffer.cursorPosition, { line: 2, column: 1 });
        return { ...buffer, content: `${buffer.content.split('\n')[0]} …` };
      },
    },
    {
      title: 'Claude sees what differs from the disk',
      async run() {
        const { diffs } = await mcp.ok('paige_get_diff', {});
        assert.deepEqual(diffs.map((diff) => diff.path), [edited]);
        assert.deepEqual(diffs[0].diff.split('\n').filter((line) => /^\+[^+]/.test(line)), [`+${EDIT.trimEnd()}`]);
        return diffs[0].diff;
      },
    },
    {
      title: 'Claude sees which files are open',
      async run() {
        const open = await mcp.ok('paige_get_open_files');
        assert.deepEqual(open.files, [edited]);
        return open;
      },
    },
    {
      title: `Claude opens ${shown} in the editor`,
      async run() {
        const { answer, message } = await shownBy('editor:open_file', 'paige_open_file', { path: shown });
        assert.deepEqual(answer, { success: true, path: shown, windows: 1 });
        assert.equal(message.payload.content, onDisk(shown));
        return { answer, editor: { ...message.payload, content: `${message.payload.content.length} characters` } };
      },
    },
    {
      title: 'Claude highlights two lines there',
      async run() {
        const input = { path: shown, start: 1, end: 2, style: 'focus', hoverText: 'Look here first.' };
        const { answer, message } = await shownBy('editor:highlight_lines', 'paige_highlight_lines', input);
        assert.deepEqual(answer, { success: true, windows: 1 });
        assert.deepEqual(message.payload, input);
        return { answer, editor: message.payload };
      },
    },
    {
      title: 'The learner saves',
      async run() {
        const { payload, type } = await ask('file:save', { path: edited, content: after }, ['fs:save_ack', 'fs:save_error'], same);
        assert.equal(type, 'fs:save_ack', JSON.stringify(payload));
        assert.equal(onDisk(edited), after);
        assert.equal((await mcp.ok('paige_get_buffer', { path: edited })).dirty, false);
        assert.deepEqual(await mcp.ok('paige_get_diff', {}), { diffs: [] });
        return payload;
      },
    },
    {
      title: 'Another program makes a file: the editor is told',
      async run() {
        // While the file worker is being replaced nobody watches; what happened then comes as a fresh fs:tree.
        fs.writeFileSync(path.join(daemon.projectDir, 'made-elsewhere.txt'), 'by another program\n');
        const mentions = (payload) => payload.path === 'made-elsewhere.txt' || JSON.stringify(payload.root ?? null).includes('"made-elsewhere.txt"');
        const { type, payload } = await editor.next(['fs:tree_update', 'fs:tree'], { where: mentions });
        return { type, ...(type === 'fs:tree_update' && payload) };
      },
    },
    {
      title: 'All of it stands in the action log',
      async run() {
        const wanted = ['session_started', 'file_open', 'mcp_tool_call', 'decorations_applied', 'file_save'];
        for (const type of wanted) await daemon.logged(type);
        assert.deepEqual((await daemon.actions('file_save')).map((row) => row.data), [{ path: edited, charCount: after.length }]);
        for (const row of await daemon.actions('file_open')) assert.deepEqual(row.data, { path: edited });
        const tools = new Set((await daemon.actions('mcp_tool_call')).map((row) => row.data.toolName));
        for (const tool of ['paige_open_file', 'paige_highlight_lines']) assert.ok(tools.has(tool), `a row for ${tool}`);
        // What only reads is answered without waiting for its row.
        if (!disturbed) for (const tool of ['paige_get_buffer', 'paige_get_diff', 'paige_get_open_files']) assert.ok(tools.has(tool), `a row for ${tool}`);
        const rows = await daemon.sql('SELECT action_type, data FROM action_log ORDER BY created_at, rowid');
        return rows.map((row) => `${row.action_type} ${row.data}`).join('\n');
      },
    },
  ];
}
