// A worker that was taken over costs what it does, and no other worker; it does nothing in another's name.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { Editor } from './lib/editor.mjs';
import { Rogue } from './lib/rogue.mjs';
import { sleep, until } from './lib/wait.mjs';

test('a store whose answers cannot be read', { timeout: 60000 }, async (t) => {
  const rogue = await Rogue.in('store', { said: '{"streams":7,"key":[],"active":"x","rows":{}}' });
  t.after(() => rogue.close());
  const others = async () => (await rogue.workers()).filter((worker) => worker.name !== 'store');
  const before = await others();
  await until('guard-engine says why it waits', async () => (await others()).find((worker) => worker.name === 'guard-engine').reason?.includes('reply.streams'));
  await sleep(1500); // longer than it takes to die and be started anew
  assert.deepEqual((await others()).map((worker) => [worker.name, worker.pid, worker.state]), before.map((worker) => [worker.name, worker.pid, worker.state]));
  assert.deepEqual((await others()).map((worker) => worker.restarts.total), before.map(() => 0));
});

test('a worker logs what is its own and nothing else', { timeout: 60000 }, async (t) => {
  const rogue = await Rogue.in('llm');
  t.after(() => rogue.close());
  const editor = await Editor.connect(rogue.daemon);
  editor.send('session:start', { issueNumber: 1 });
  await editor.next('session:started');
  editor.close();
  const log = (type, data) => rogue.ask(`call store action.append ${JSON.stringify({ actions: [{ id: crypto.randomUUID(), type, createdAt: new Date().toISOString(), data }] })}`);
  const explained = { path: 'a.ts' };
  assert.equal((await log('file_save', { path: 'a.ts', lineCount: 1 }))[0], 0, 'of the file worker');
  assert.equal((await log('mcp_tool_call', { toolName: 'paige_get_buffer' }))[0], 0, 'of the gateway');
  assert.equal((await log('phase_completed', { phase: 1 }))[0], 0, 'of the store alone');
  assert.equal((await log('explain_requested', explained))[0], 1, 'of its own');
  const rows = await rogue.daemon.sql('SELECT DISTINCT action_type FROM action_log ORDER BY 1');
  assert.deepEqual(rows.map((row) => row.action_type), ['explain_requested', 'session_started']);
});

test('a worker that keeps all connections it gets', { timeout: 120000 }, async (t) => {
  const rogue = await Rogue.in('observer', { confined: true });
  t.after(() => rogue.close());
  const others = async () => (await rogue.workers()).filter((worker) => worker.name !== 'observer').map((worker) => [worker.name, worker.pid, worker.state]);
  const before = await others();
  const [, store] = before.find(([name]) => name === 'store');
  const descriptors = () => fs.readdirSync(`/proc/${store}/fd`).length;
  const idle = descriptors();
  const works = async () => {
    const editor = await Editor.connect(rogue.daemon);
    editor.send('session:start', { issueNumber: 1 });
    await editor.next('session:started');
    editor.close();
    assert.equal((await rogue.ask('call store session.newest {}'))[0] !== -1, true, 'the rogue, too, is answered');
  };
  // Twice, since what it gave back counts no more.
  for (const tries of [10000, 1000]) {
    const [held] = await rogue.ask(`hold store ${tries}`, 60000);
    t.diagnostic(`${held} connections held, ${descriptors() - idle} more descriptors`);
    assert.ok(held > 0 && held <= 40, `${held} connections are held`);
    assert.ok(descriptors() - idle <= 50, `${descriptors() - idle} descriptors of the store`);
    await rogue.ask('let-go');
    await works();
  }
  assert.deepEqual(await others(), before);
});
