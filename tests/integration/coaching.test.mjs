// coaching.test.mjs - what needs Claude, from plan to wrap-up (seed 004 stories 7 to 12), with the scripted Claude.
import { strict as assert } from 'node:assert';
import { QUESTION } from './lib/project.mjs';
import { scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const PLAN = { planText: '# Plan\n\n1. Read greet\n2. Greet nobody politely\n3. Test it', issueSummary: 'greet fails without a name' };
const QUICK = { LLM_RETRY_BASE_MS: '200', LLM_FLOW_RETRY_MS: '200', MEMORY: 'embedded' };

async function world(t, env = {}) {
  const claude = await t.claude();
  const daemon = await t.daemon({ env: { ...QUICK, ANTHROPIC_BASE_URL: claude.url, ...env } });
  return { claude, daemon, editor: await t.editor(daemon), mcp: await t.mcp(daemon) };
}

async function begin(editor) {
  editor.send('session:start', { issueNumber: 7, issueTitle: 'Greet nobody' });
  return (await editor.next('session:started')).payload.sessionId;
}

function explain(editor, over = {}) {
  editor.send('user:explain', { ...QUESTION, ...over });
  return editor.next(['explain:response', 'explain:error']);
}

scenario('a plan becomes phases, a session becomes knowledge, and the next session remembers', async (t) => {
  const { daemon, editor, mcp } = await world(t);
  const sessionId = await begin(editor);

  const plan = await mcp.ok('paige_run_coaching_pipeline', PLAN);
  const phases = await daemon.sql(`SELECT p.number FROM phases p JOIN plans ON plans.id = p.plan_id WHERE plans.session_id = '${sessionId}' ORDER BY p.number`);
  assert.ok(phases.length > 0);
  assert.deepEqual(phases.map((phase) => phase.number), plan.phases.map((phase) => phase.number));

  assert.equal((await explain(editor)).type, 'explain:response');

  const ended = await mcp.ok('paige_end_session', { sessionTranscript: 'learner: why a backtick? coach: it is a template.' });
  assert.ok(ended.memoriesStored > 0, JSON.stringify(ended));
  assert.equal((await daemon.sql('SELECT COUNT(*) AS n FROM memories', 'memory.db'))[0].n, ended.memoriesStored);
  const katas = await daemon.sql('SELECT id FROM kata_specs');
  assert.equal(katas.length, ended.kataSpecs);

  editor.send('dashboard:request', { statsPeriod: 'all' });
  const { payload: dashboard } = await editor.next('dashboard:state');
  assert.deepEqual(dashboard.katas.map((kata) => kata.id), katas.map((kata) => kata.id));
  assert.equal(dashboard.stats.sessionsCompleted, 1);

  editor.send('user:review', { kataId: katas[0].id, code: 'export const greet = () => "Hello";', level: 1, constraints: [] });
  const reviewed = await editor.next(['review:response', 'review:error']);
  assert.equal(reviewed.type, 'review:response', JSON.stringify(reviewed.payload));
  assert.equal(JSON.parse((await daemon.sql('SELECT user_attempts AS a FROM kata_specs'))[0].a).length, 1);

  await begin(editor);
  await mcp.ok('paige_run_coaching_pipeline', PLAN);
  const calls = await daemon.sql("SELECT call_type, COUNT(*) AS n FROM api_call_log WHERE call_type IN ('coach_agent', 'memory_retrieval_filter') GROUP BY 1 ORDER BY 1");
  assert.deepEqual(calls, [{ call_type: 'coach_agent', n: 2 }, { call_type: 'memory_retrieval_filter', n: 1 }]);
});

scenario('a connection that ends under a request is a failure of its own: told, waited for, tried again', async (t) => {
  const { claude, editor } = await world(t);
  assert.equal((await explain(editor)).type, 'explain:response'); // its connection is kept
  claude.disturb = (number, response) => {
    if (number === 2) response.destroy();
    return number === 2;
  };
  assert.equal((await explain(editor)).type, 'explain:response');
  const [, dropped, again] = claude.requests;
  assert.equal(claude.requests.length, 3);
  assert.ok(again.at - dropped.at >= 100, `repeated after ${again.at - dropped.at} ms`);
});

scenario('llm killed while Claude thinks: the learner is told, the call is in the log, the next one works', async (t) => {
  const { claude, daemon, editor } = await world(t);
  await begin(editor);
  claude.disturb = (number) => number === 1; // never answered
  editor.send('user:explain', QUESTION);
  await until('the request at Claude', () => claude.requests.length === 1);
  await daemon.replaced('llm', await daemon.kill9('llm'));
  assert.equal((await editor.next(['explain:response', 'explain:error'])).type, 'explain:error');
  await until('a row for the call that nobody will answer', async () => (await daemon.sql('SELECT latency_ms FROM api_call_log')).some((row) => row.latency_ms === -1));
  assert.equal((await explain(editor)).type, 'explain:response');
  assert.equal(claude.requests.length, 2);
});

scenario('a session that is wrapped up is not watched again, whatever the learner says meanwhile (P10.13)', async (t) => {
  const { claude, daemon, editor, mcp } = await world(t);
  await begin(editor);
  await editor.next('observer:status', { where: ({ active }) => active });
  claude.disturb = () => true; // not answered until all is over
  const ending = mcp.once('paige_end_session', { sessionTranscript: 'learner: done.' }).catch(() => {});
  await editor.next('observer:status', { where: ({ active }) => !active });
  editor.send('observer:mute', { muted: true });
  await until('it is ignored', () => daemon.everythingWritten().includes('cannot be muted without a session'));
  assert.deepEqual(await daemon.actions('observer_muted'), []);
  editor.send('session:start', { issueNumber: 8 });
  await editor.next('observer:status', { where: ({ active }) => active });
  editor.send('observer:mute', { muted: true });
  await editor.next('observer:status', { where: ({ active, muted }) => active && muted });
  claude.close();
  await ending;
});

scenario('fifty questions at once: each is answered, and short calls are not starved', async (t) => {
  const { claude, editor } = await world(t);
  await begin(editor);
  const held = [];
  claude.disturb = (number, response) => number <= 50 && held.push(response) > 0;
  for (let i = 0; i < 50; i += 1) editor.send('user:explain', { ...QUESTION, selectedText: `question ${i}` });
  await until('all fifty at Claude', () => claude.requests.length === 50);
  assert.equal((await explain(editor, { selectedText: 'a late one' })).type, 'explain:response');
  for (const response of held) {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"type":"error","error":{"type":"invalid_request_error","message":"not today"}}');
  }
  for (let i = 0; i < 50; i += 1) await editor.next(['explain:response', 'explain:error']);
});
