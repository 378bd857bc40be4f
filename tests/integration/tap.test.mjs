// paigectl tap: what crosses the bus is shown while it happens, costs nothing when nobody looks, and never slows anybody.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { scenario } from './lib/scenario.mjs';
import { messages, tap } from './lib/tap.mjs';
import { until } from './lib/wait.mjs';

/** Opens a file until the tap has seen it: the pipe reaches the workers a moment after the tap was started. */
function seen(editor, looking, predicate, what) {
  return until(what, () => {
    editor.send('file:open', { path: 'README.md' });
    return messages(looking).find(predicate);
  }, { every: 50 });
}

scenario('calls, answers and events are shown with both ends, duration and body', async (context) => {
  const daemon = await context.daemon();
  const editor = await context.editor(daemon);
  const looking = tap(daemon, '--json');
  const answer = await seen(editor, looking, (m) => m.kind === 'answer' && m.name === 'fs.open', 'an answer to fs.open');
  assert.equal(answer.from, 'gateway');
  assert.equal(answer.to, 'fswatch');
  assert.ok(answer.ms > 0 && answer.ms < 5000);
  assert.match(answer.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const call = await seen(editor, looking, (m) => m.kind === 'call' && m.name === 'fs.open', 'a call of fs.open');
  assert.match(call.body, /README\.md/);
  assert.equal(call.bytes, Buffer.byteLength(call.body));

  fs.writeFileSync(path.join(daemon.projectDir, 'new.ts'), '');
  await until('an event', () => messages(looking).find((m) => m.kind === 'event' && m.from === 'fswatch' && m.to === undefined));

  const second = tap(daemon);
  assert.deepEqual(await second.ended, { code: 1, signal: null });
  assert.match(second.errors, /somebody else is looking/);

  // A worker that is started while somebody looks is seen too.
  const old = await daemon.kill9('observer');
  await daemon.replaced('observer', old);
  looking.child.kill('SIGINT');
  assert.deepEqual(await looking.ended, { code: null, signal: 'SIGINT' });

  const again = tap(daemon, 'store');
  await until('the tap of one worker shows it to a person', () => {
    editor.send('editor:tab_switch', { fromPath: 'README.md', toPath: 'src/a.ts' });
    editor.send('file:open', { path: 'README.md' });
    return again.lines.some((line) => /^\d\d:\d\d:\d\d\.\d{3} \S+ [<>] store /.test(line));
  }, { every: 50 });
  assert.ok(again.lines.every((line) => / store /.test(line)), again.lines.find((line) => !/ store /.test(line)));
  again.child.kill('SIGTERM');
  await again.ended;
});

scenario('somebody who looks and does not read slows nobody down, and is told what was dropped', async (context) => {
  const daemon = await context.daemon();
  const editor = await context.editor(daemon);
  const looking = tap(daemon, '--json');
  await seen(editor, looking, (m) => m.kind === 'call', 'a call');
  looking.child.kill('SIGSTOP');
  const begun = Date.now();
  for (let i = 0; i < 6000; i++) editor.send('file:open', { path: 'README.md' });
  editor.send('file:open', { path: 'no-such-file' });
  await until('the editor is served all the same', () => editor.messages.some((m) => m.type === 'connection:error'), { ms: 20000 });
  assert.ok(Date.now() - begun < 20000);
  looking.child.kill('SIGCONT');
  const dropped = await seen(editor, looking, (m) => m.kind === 'dropped', 'how many were dropped');
  assert.ok(dropped.dropped > 0);
  looking.child.kill('SIGTERM');
  await looking.ended;
});

scenario('the tap ends with the daemon', async (context) => {
  const daemon = await context.daemon();
  const editor = await context.editor(daemon);
  const looking = tap(daemon);
  await until('the tap shows something', () => {
    editor.send('file:open', { path: 'README.md' });
    return looking.lines.length > 0;
  }, { every: 50 });
  await context.release(daemon, editor);
  assert.deepEqual(await looking.ended, { code: 0, signal: null });
});
