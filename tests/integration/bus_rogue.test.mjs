// A worker whose answers nobody can read costs what it does, and no other worker.
import assert from 'node:assert/strict';
import test from 'node:test';
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
