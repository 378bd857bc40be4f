// The plugin for Claude Code (config/claude-code): what its hooks say, and that they are quiet where nothing is to be said.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLAUDE_CODE, runClaudeCode } from './lib/claude-code.mjs';
import { PAIGED } from './lib/daemon.mjs';
import { scenario, unless } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const PLUGIN = fileURLToPath(new URL('../../config/claude-code/', import.meta.url));
const { hooks } = JSON.parse(fs.readFileSync(path.join(PLUGIN, 'hooks/hooks.json'), 'utf8'));

/** Runs the hooks of an event as Claude Code does: by the shell, with the event on standard input. */
function claude(daemon, event) {
  const entries = hooks[event.hook_event_name].filter(({ matcher }) => !matcher || new RegExp(`^(${matcher})$`).test(event.tool_name));
  assert.equal(entries.length, 1, JSON.stringify(event));
  const PATH = `${path.dirname(PAIGED)}:${process.env.PATH}`;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', entries[0].hooks[0].command], { input: JSON.stringify(event), env: { ...daemon.env, PATH }, encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, ''], JSON.stringify(event));
  return stdout ? JSON.parse(stdout).hookSpecificOutput : null;
}

const prompt = (daemon, cwd = daemon.projectDir) => claude(daemon, { hook_event_name: 'UserPromptSubmit', cwd, prompt: 'Why?' })?.additionalContext ?? null;
const use = (daemon, name, input) => claude(daemon, { hook_event_name: 'PreToolUse', cwd: daemon.projectDir, tool_name: name, tool_input: input })?.permissionDecision ?? null;

scenario('Claude learns what is not saved and what the learner wants; it may not edit until somebody allows it', async (t) => {
  const daemon = await t.daemon();
  const file = (name) => path.join(daemon.projectDir, name);
  const outside = t.directory('elsewhere');
  const editor = await t.editor(daemon);
  const mcp = await t.mcp(daemon);
  assert.equal(prompt(daemon), null, 'nothing is to be said');
  assert.equal(use(daemon, 'Edit', { file_path: file('README.md') }), null, 'without a session Claude may edit');
  assert.match((await daemon.ctl('edits')).stdout, /^No coaching session runs/);

  editor.send('buffer:update', { path: 'README.md', content: 'not saved' });
  await until('the buffer', async () => (await mcp.ok('paige_get_buffer', { path: 'README.md' }))?.dirty);
  assert.equal(prompt(daemon), 'Unsaved in the editor, so the files on disk are older: README.md. Read them with paige_get_buffer.\n');
  editor.send('session:start', { issueNumber: 7 });
  await editor.next('session:started');
  editor.send('hints:level_change', { level: 'line' });
  await until('the level', () => /^A coaching session of Paige runs\. The learner wants help of the level line\.\nUnsaved in the editor/.test(prompt(daemon)));
  assert.equal(prompt(daemon, outside), null, 'another project is another matter');

  for (const name of ['Edit', 'Write', 'MultiEdit']) assert.equal(use(daemon, name, { file_path: file('src/new/file.ts') }), 'deny', name);
  assert.equal(use(daemon, 'NotebookEdit', { notebook_path: file('a.ipynb') }), 'deny');
  assert.equal(use(daemon, 'Write', { file_path: path.join(outside, 'x') }), null);
  fs.symlinkSync(daemon.projectDir, path.join(outside, 'link'));
  assert.equal(use(daemon, 'Write', { file_path: path.join(outside, 'link/x') }), 'deny', 'a link into the project leads into it');
  assert.equal(use(daemon, 'mcp__plugin_paige_paige__paige_get_buffer', {}), 'allow');
  assert.equal(use(daemon, 'mcp__other__paige_get_buffer', {}), null);

  assert.match((await daemon.ctl('edits')).stdout, /may not edit/);
  assert.equal((await daemon.ctl('edits', 'perhaps')).code, 2);
  assert.equal((await daemon.ctl('edits', 'allow')).code, 0);
  assert.equal(use(daemon, 'Edit', { file_path: file('README.md') }), null);
  assert.equal((await daemon.ctl('edits', 'refuse')).code, 0);
  assert.equal(use(daemon, 'Edit', { file_path: file('README.md') }), 'deny');
  assert.equal((await daemon.ctl('edits', 'allow')).code, 0);
  editor.send('session:start', { issueNumber: 8 });
  await editor.next('session:started');
  assert.equal(use(daemon, 'Edit', { file_path: file('README.md') }), 'deny', 'what was allowed ends with its session');
});

scenario('whatever comes, a hook ends well, says nothing, and takes no time', async (t) => {
  const nobody = { env: { ...process.env, HOME: t.directory('home'), DATA_DIR: t.directory('data') }, projectDir: t.directory('project') };
  const took = [];
  for (let i = 0; i < 5; i += 1) {
    const began = performance.now();
    assert.equal(prompt(nobody), null);
    assert.equal(use(nobody, 'Edit', { file_path: path.join(nobody.projectDir, 'x') }), null);
    took.push((performance.now() - began) / 2);
  }
  took.sort((a, b) => a - b);
  assert.ok(took[0] < 100 || process.env.ASAN_OPTIONS, `${took} ms`);
  for (const input of ['', '{', '[]', '{"hook_event_name":7}', '{"hook_event_name":"PreToolUse","tool_name":[],"tool_input":"x"}', '{"hook_event_name":"UserPromptSubmit","cwd":"\\u0000"}', 'x'.repeat(40_000_000)]) {
    const { status, stdout } = spawnSync(path.join(path.dirname(PAIGED), 'paigectl'), ['hook'], { input, env: nobody.env, encoding: 'utf8' });
    assert.deepEqual([status, stdout], [0, ''], input.slice(0, 80));
  }
});

const withClaudeCode = unless(!CLAUDE_CODE && 'Claude Code is not installed', scenario);

withClaudeCode('the real Claude Code takes the plugin: told at the prompt, refused during a session, allowed after paigectl says so, alone without a daemon', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  const file = (name) => path.join(daemon.projectDir, name);
  const write = (name) => ({ name: 'Write', input: { file_path: file(name), content: 'by Claude\n' } });
  const run = (...calls) => runClaudeCode(t, daemon, { prompt: 'Go on.', plugin: PLUGIN, calls });
  editor.send('buffer:update', { path: 'README.md', content: 'not saved' });
  editor.send('session:start', { issueNumber: 7 });
  await editor.next('session:started');

  const refused = await run(write('refused.txt'), { name: 'mcp__plugin_paige_paige__paige_get_buffer', input: { path: 'README.md' } });
  assert.match(refused.told, /A coaching session of Paige runs\. .*Unsaved in the editor, so the files on disk are older: README\.md\./);
  assert.match(refused.results[0].text, /the learner writes the code/);
  assert.deepEqual([refused.results[0].isError, fs.existsSync(file('refused.txt'))], [true, false]);
  assert.match(refused.results[1].text, /not saved/, 'Paige\'s tools need no permission');
  assert.equal((await daemon.ctl('edits', 'allow')).code, 0);
  await run(write('allowed.txt'));
  assert.equal(fs.readFileSync(file('allowed.txt'), 'utf8'), 'by Claude\n');
  await daemon.stop();
  const alone = await run(write('alone.txt'));
  assert.doesNotMatch(alone.told, /Paige runs|Unsaved in the editor/);
  assert.ok(fs.existsSync(file('alone.txt')));
});
