// The tools as official clients see them: the TypeScript SDK's client, which checks every structured result against the
// schema that the tool promised, and the Inspector's command line in both eras.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { sideBySide as scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const MCP_TESTS = fileURLToPath(new URL('../mcp/node_modules', import.meta.url));

/** The tools of the catalogue, as the generated reference lists them. */
const NAMES = [...fs.readFileSync(new URL('../../proto/docs/mcp.md', import.meta.url), 'utf8').matchAll(/^\| `(paige_\w+)` \|/gm)].map(([, name]) => name);

/** A value that a schema takes, with the required members of objects alone. A path is that of a file that is there. */
function valueOf(schema, name) {
  const make = {
    object: () => Object.fromEntries((schema.required ?? []).map((key) => [key, valueOf(schema.properties[key], key)])),
    array: () => Array.from({ length: schema.minItems ?? 0 }, () => valueOf(schema.items)),
    string: () => (name === 'path' ? 'README.md' : 'text'),
    integer: () => schema.minimum ?? 1,
    number: () => schema.minimum ?? 1,
    boolean: () => true,
  };
  return schema.enum ? schema.enum[0] : make[schema.type]();
}

/** What a tool needs beyond what its schema requires. */
const BESIDE = { paige_hint_files: { hints: [{ path: 'README.md', style: 'subtle' }] } };

/** These may say that something is missing: a plan, or Claude, who is not there. */
const MAY_FAIL = ['paige_update_phase', 'paige_run_coaching_pipeline', 'paige_end_session'];

scenario('the SDK lists and calls every tool; structured results are what their schema says', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 1 });
  await editor.next('session:started');
  const mcp = await t.mcp(daemon);
  const { tools } = await mcp.client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), [...NAMES].sort());
  for (const tool of tools) {
    const args = { ...valueOf(tool.inputSchema), ...BESIDE[tool.name] };
    const result = await mcp.client.callTool({ name: tool.name, arguments: args }, undefined, { timeout: 30000 });
    assert.equal(result.content.length, 1, tool.name);
    if (MAY_FAIL.includes(tool.name) && result.isError) {
      assert.ok(result.content[0].text.length > 10, tool.name);
      assert.equal(result.structuredContent, undefined, `${tool.name}: no structure on an error`);
      continue;
    }
    assert.notEqual(result.isError, true, `${tool.name}: ${result.content[0].text}`);
    const json = JSON.parse(result.content[0].text);
    if (json !== null) assert.deepEqual(result.structuredContent, json, `${tool.name}: the text mirrors the structure`);
    if (tool.outputSchema) assert.ok(result.structuredContent, tool.name);
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations;
    assert.equal(readOnlyHint, tool.name.startsWith('paige_get_'), tool.name);
    assert.equal(destructiveHint, ['paige_clear_highlights', 'paige_clear_hints', 'paige_end_session'].includes(tool.name), tool.name);
    assert.equal(idempotentHint, !['paige_highlight_lines', 'paige_hint_files', 'paige_show_message', 'paige_run_coaching_pipeline'].includes(tool.name), tool.name);
    assert.equal(openWorldHint, ['paige_run_coaching_pipeline', 'paige_end_session'].includes(tool.name), tool.name);
  }
});

scenario('wrong arguments come back as words that a model can act on', async (t) => {
  const daemon = await t.daemon();
  const mcp = await t.mcp(daemon);
  const text = async (name, args) => {
    const result = await mcp.client.callTool({ name, arguments: args });
    assert.equal(result.isError, true, `${name} ${JSON.stringify(args)}`);
    return result.content[0].text;
  };
  assert.match(await text('paige_open_file', {}), /arguments\.path: expected a string/);
  assert.match(await text('paige_open_file', { path: 5 }), /arguments\.path: expected a string/);
  assert.match(await text('paige_open_file', { path: 'a', paht: 'b' }), /paht.*path/);
  assert.match(await text('paige_highlight_lines', { path: 'a', start: 1, end: 1, style: 'neon' }), /style.*hint/);
  assert.match(await text('paige_highlight_lines', { path: 'a', start: '1', end: 1, style: 'hint' }), /arguments\.start/);
  await assert.rejects(mcp.client.callTool({ name: 'paige_open_fiel', arguments: {} }), /Unknown tool: paige_open_fiel.*paige_open_file/);
});

scenario('every call leaves its row: at once when the tool did something, soon when it only read, before the daemon ends', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 7 });
  await editor.next('session:started');
  const mcp = await t.mcp(daemon);
  const rows = async (tool) => (await daemon.actions('mcp_tool_call')).filter((row) => row.data.toolName === tool).length;
  await mcp.ok('paige_show_message', { message: 'm', type: 'info' });
  assert.equal(await rows('paige_show_message'), 1, 'its answer comes behind the row (FR-079)');
  await mcp.ok('paige_open_file', { path: 'README.md' }); // its answer comes behind the record in the journal of fswatch
  await daemon.kill9('fswatch');
  await until('the row of a file that was opened', async () => (await rows('paige_open_file')) === 1);
  for (const [name, args] of [['paige_show_message', { message: 7 }], ['paige_highlight_lines', { path: 'README.md', start: 1000, end: 1000, style: 'hint' }], ['paige_update_phase', { phase: 1, status: 'active' }], ['paige_open_file', { path: 'nowhere' }], ['paige_run_coaching_pipeline', {}]]) {
    const before = await rows(name);
    assert.equal((await mcp.client.callTool({ name, arguments: args })).isError, true, name);
    await until(`a row of ${name}, which failed`, async () => (await rows(name)) > before);
    assert.equal(await rows(name), before + 1, name);
  }
  const read = (count) => Promise.all(Array.from({ length: count }, () => mcp.ok('paige_get_open_files')));
  for (let i = 0; i < 10; i += 1) await read(20); // faster than rows go out
  await until('all rows', async () => (await rows('paige_get_open_files')) === 200);
  await read(50);
  await daemon.stop();
  assert.equal(await rows('paige_get_open_files'), 250);
});

scenario('kill -9 of fswatch and store while a tool opens files: each file that is open has its row, each row its file', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 7 });
  await editor.next('session:started');
  const mcp = await t.mcp(daemon);
  const files = Array.from({ length: 120 }, (_, i) => `shown-${i}.txt`);
  for (const file of files) fs.writeFileSync(path.join(daemon.projectDir, file), 'a line\n');
  let opened = 0;
  const open = async () => {
    while (files.length) {
      await mcp.ok('paige_open_file', { path: files.pop() });
      opened += 1;
    }
  };
  const opening = Promise.all([open(), open(), open()]);
  for (const [after, worker] of [[20, 'fswatch'], [50, 'store'], [80, 'fswatch']]) {
    await until(`${after} files`, () => opened >= after, { every: 1 });
    await daemon.replaced(worker, await daemon.kill9(worker));
  }
  await opening;
  const rows = await until('120 rows', async () => {
    const found = (await daemon.actions('mcp_tool_call')).filter((row) => row.data.toolName === 'paige_open_file');
    return found.length >= 120 && found;
  });
  assert.equal(rows.length, 120);
  assert.equal((await mcp.ok('paige_get_open_files', {})).files.length, 120);
});

const inspector = path.join(MCP_TESTS, '.bin', 'mcp-inspector');
const inspect = fs.existsSync(inspector) ? scenario : () => {}; // scripts/setup --test installs it
inspect('the Inspector lists in both eras, finds no schema error, and calls twenty at a time', async (t) => {
  const daemon = await t.daemon();
  const run = (...args) =>
    new Promise((resolve) => {
      execFile(path.join(MCP_TESTS, '.bin', 'node'), [inspector, '--cli', `${daemon.url}/mcp`, '--transport', 'http', ...args], { timeout: 60000 }, (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }));
    });
  for (const era of ['legacy', 'auto', 'modern']) {
    const { code, stdout, stderr } = await run('--method', 'tools/list', '--protocol-era', era);
    assert.equal(code, 0, `${era}: ${stderr}`);
    assert.equal(JSON.parse(stdout).tools.length, NAMES.length);
  }
  const strict = await run('--method', 'tools/list', '--strict');
  assert.equal(strict.code, 0, strict.stderr);
  const called = await run('--method', 'tools/call', '--tool-name', 'paige_open_file', '--tool-args-json', '{"path":"README.md"}', '--format', 'json');
  assert.equal(JSON.parse(called.stdout).result.structuredContent.path, 'README.md');
  assert.equal((await run('--method', 'tools/call', '--tool-name', 'paige_open_file', '--tool-args-json', '{"path":7}')).code, 5);
  const load = await run('--method', 'tools/call', '--tool-name', 'paige_get_open_files', '--tool-args-json', '{}', '--load', '--load-concurrency', '20', '--load-requests', '500');
  assert.deepEqual([JSON.parse(load.stdout).ok, JSON.parse(load.stdout).errors], [500, 0]);
});
