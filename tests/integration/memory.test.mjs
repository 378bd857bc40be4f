// memory.test.mjs - memory.db through the whole daemon: found again after crashes, and nothing but memories lost with it.
import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { scenario } from './lib/scenario.mjs';

const PLAN = { planText: '# Plan\n\n1. Read greet', issueSummary: 'greet fails without a name' };
const QUICK = { LLM_RETRY_BASE_MS: '200', LLM_FLOW_RETRY_MS: '200', MEMORY: 'embedded' };

async function world(t, dataDir) {
  const claude = await t.claude();
  const daemon = await t.daemon({ dataDir, env: { ...QUICK, ANTHROPIC_BASE_URL: claude.url } });
  return { daemon, editor: await t.editor(daemon), mcp: await t.mcp(daemon) };
}

/** A session from its start to its end; gives what paige_end_session says. */
async function session(w) {
  w.editor.send('session:start', { issueNumber: 7 });
  await w.editor.next('session:started');
  await w.mcp.ok('paige_run_coaching_pipeline', PLAN);
  return w.mcp.ok('paige_end_session', { sessionTranscript: 'learner: why? coach: because.' });
}

const recalled = async (w) => (await w.daemon.sql("SELECT COUNT(*) AS n FROM api_call_log WHERE call_type = 'memory_retrieval_filter'"))[0].n;

scenario('what a session leaves behind is there after its writer was killed', async (t) => {
  const w = await world(t);
  const first = await session(w);
  assert.ok(first.memoriesStored > 0);
  const old = await w.daemon.kill9('store');
  await w.daemon.replaced('store', old);
  assert.equal(await recalled(w), 0);
  await session(w);
  assert.equal(await recalled(w), 1, 'the next session was offered what the one before left');
  const ids = (await w.daemon.sql('SELECT id FROM memories ORDER BY number', 'memory.db')).map((row) => row.id);
  assert.equal(new Set(ids).size, ids.length);
});

scenario('without a usable memory.db everything works but the memories, and the daemon says so', async (t) => {
  const dataDir = t.directory('data');
  const file = path.join(dataDir, 'memory.db');
  const before = await world(t, dataDir);
  await session(before);
  await before.daemon.stop();
  const whole = fs.readFileSync(file);
  fs.writeFileSync(file, 'not a database at all');

  const broken = await world(t, dataDir);
  const ended = await session(broken);
  assert.deepEqual([ended.memoriesStored, ended.sessionStatus], [0, 'completed']);
  assert.equal((await broken.daemon.get('/health')).json.status, 'degraded');
  assert.equal((await broken.daemon.sql("SELECT COUNT(*) AS n FROM sessions WHERE status = 'completed'"))[0].n, 2);
  const log = fs.readFileSync(path.join(dataDir, 'logs', 'store.log'), 'utf8');
  assert.equal(log.split('\n').filter((line) => line.includes(file)).length, 1, 'said once, with the name of the file');
  await broken.daemon.stop();
  assert.equal(fs.readFileSync(file, 'utf8'), 'not a database at all', 'left as it was found');

  fs.writeFileSync(file, whole);
  const mended = await world(t, dataDir);
  assert.equal((await mended.daemon.get('/health')).json.status, 'ok');
  const count = await recalled(mended);
  await session(mended);
  assert.equal(await recalled(mended), count + 1);
});
