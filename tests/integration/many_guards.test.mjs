// many_guards.test.mjs - the guard engine with many live machines: how long it takes to be back. It runs alone, since it measures.
import { strict as assert } from 'node:assert';
import { Guard, insist } from './lib/guard.mjs';
import { scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const QUICK = Boolean(process.env.PAIGE_QUICK);

scenario('many live machines: the start after a crash is quick, and each goes on', async (t) => {
  const many = QUICK ? 1000 : 10000;
  const daemon = await t.daemon();
  const config = { monitored: ['a'], nQuickTask: 1, windowHours: 24, quickTaskMs: 3600000, timezone: 'UTC' };
  let next = 0;
  await Promise.all(Array.from({ length: 32 }, async () => {
    while (next < many) {
      const id = `g${next++}`;
      const made = await insist(daemon, 'POST', '/guards/breakloop', { id, config });
      assert.equal(made.status, 201, made.text);
      assert.equal((await insist(daemon, 'POST', `/guards/breakloop/${id}/events`, { type: 'app_entered', app: 'a' })).status, 200);
    }
  }));
  const [{ n }] = await daemon.sql('SELECT count(*) AS n FROM streams WHERE deadline IS NOT NULL', 'guard.db');
  assert.equal(n, many);
  await daemon.kill9('guard-engine');
  const began = Date.now();
  const last = new Guard(daemon, 'breakloop', `g${many - 1}`);
  const { decision } = await last.event({ type: 'app_exited', app: 'a' });
  const took = Date.now() - began;
  console.log(`# ${many} machines: the first answer ${took} ms after the crash`);
  assert.ok(took < 4000, `${took} ms`);
  assert.equal(decision, undefined);
  await until('all are known', () => new RegExp(`waiting[^0-9]*${many}`).test(daemon.everythingWritten().split('guards are watched').pop()));
});
