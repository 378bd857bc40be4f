// coaching.test.mjs - what needs Claude, from plan to wrap-up (stories 7 to 12), with the scripted Claude.
import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { children, signal } from './lib/processes.mjs';
import { QUESTION } from './lib/project.mjs';
import { sideBySide as scenario } from './lib/scenario.mjs';
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

const interruptions = {
  cancelled: async (w, wrapUp) => wrapUp.abort(),
  'cut off by a restart of llm': async ({ daemon }) => assert.equal((await daemon.ctl('restart', 'llm')).code, 0),
  'cut off by a kill -9 of llm': async ({ daemon }) => daemon.replaced('llm', await daemon.kill9('llm')),
};

for (const [how, interrupt] of Object.entries(interruptions)) {
  scenario(`a wrap-up that is ${how}: the session goes on, and is watched`, async (t) => {
    const w = await world(t);
    const { claude, editor, mcp } = w;
    await begin(editor);
    await editor.next('observer:status', { where: ({ active }) => active });
    claude.disturb = () => true; // never answered
    const wrapUp = new AbortController();
    mcp.client.callTool({ name: 'paige_end_session', arguments: { sessionTranscript: 'learner: done.' } }, undefined, { signal: wrapUp.signal }).catch(() => {});
    await editor.next('observer:status', { where: ({ active }) => !active });
    await until('Claude is asked', () => claude.requests.length === 1);
    await interrupt(w, wrapUp);
    await editor.next('observer:status', { where: ({ active }) => active });
    claude.disturb = () => false;
    await mcp.reopen();
    await mcp.ok('paige_end_session', { sessionTranscript: 'learner: done.' });
    await editor.next('session:completed');
    await editor.next('observer:status', { where: ({ active }) => !active });
  });
}

scenario('a window that asks for the dashboard again and again gets a state for each question', async (t) => {
  const { editor } = await world(t);
  const periods = Array.from({ length: 40 }, (_, i) => ['7d', '30d', 'all'][i % 3]);
  for (const statsPeriod of periods) editor.send('dashboard:request', { statsPeriod });
  await until('all states', () => editor.of('dashboard:state').length === periods.length);
  // The order is that in which the questions come to llm (unit test `flow_turns`); the bus may swap neighbours on the way.
  assert.deepEqual(editor.of('dashboard:state').map(({ payload }) => payload.stats.period).sort(), periods.sort());
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

scenario('gh is told its own login and how to reach the network, not the key for Claude nor anything else', async (t) => {
  const tools = t.directory('tools');
  // It gives the names of its variables as the title of the issue.
  fs.writeFileSync(path.join(tools, 'gh'), `#!/bin/sh\nprintf '{"title":"%s"}' "$(env | sed -n 's/^\\([A-Za-z_]*\\)=.*/\\1/p' | sort | tr '\\n' ' ')"\n`, { mode: 0o755 });
  const foreign = { AWS_SECRET_ACCESS_KEY: 's', LD_PRELOAD: '', NODE_OPTIONS: 'x' };
  const { daemon, editor } = await world(t, { PATH: `${tools}:${process.env.PATH}`, GH_TOKEN: 't', https_proxy: 'http://127.0.0.1:9', no_proxy: '*', ...foreign });
  editor.send('session:start', { issueNumber: 7 });
  const { sessionId } = (await editor.next('session:started')).payload;
  const [{ title }] = await until('the title', async () => {
    const rows = await daemon.sql(`SELECT issue_title AS title FROM sessions WHERE id = '${sessionId}' AND issue_title LIKE '%PATH%'`);
    return rows.length && rows;
  });
  const names = title.split(' ');
  for (const name of ['PATH', 'HOME', 'GH_TOKEN', 'https_proxy', 'GH_PROMPT_DISABLED']) assert.ok(names.includes(name), `${name} is missing: ${title}`);
  for (const name of ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'PROJECT_DIR', ...Object.keys(foreign)]) assert.ok(!names.includes(name), `${name} is there: ${title}`);
  assert.ok(!/PAIGE_/.test(title), title);
});

scenario('paige-gh has no key for Claude; when it is killed, llm is started anew and gh works again; a title that was missed comes', async (t) => {
  const tools = t.directory('tools');
  // It writes where it likes: llm itself could not.
  fs.writeFileSync(path.join(tools, 'gh'), `#!/bin/sh\necho "$*" >>${tools}/asked && printf '{"title":"number %s"}' "$(wc -l <${tools}/asked)"\n`, { mode: 0o755 });
  const { daemon, editor } = await world(t, { PATH: `${tools}:${process.env.PATH}` });
  const start = async () => {
    editor.send('session:start', { issueNumber: 7 });
    return (await editor.next('session:started')).payload.sessionId;
  };
  const titled = (sessionId, wanted) => until(`the title ${wanted}`, async () => (await daemon.sql(`SELECT 1 FROM sessions WHERE id = '${sessionId}' AND issue_title = '${wanted}'`)).length);
  const title = async (wanted) => titled(await start(), wanted);
  const helper = () => children(daemon.worker('llm').pid).find((entry) => entry.name === 'gh-helper');
  await title('number 1');
  const environment = fs.readFileSync(`/proc/${helper().pid}/environ`, 'utf8');
  assert.match(environment, /(^|\0)PATH=/);
  assert.ok(!/ANTHROPIC|PAIGE_/.test(environment), environment.replaceAll('\0', ' '));
  const llm = daemon.worker('llm');
  assert.ok(signal(helper(), 'SIGKILL'));
  await daemon.replaced('llm', llm);
  assert.ok(daemon.everythingWritten().includes('the process that starts gh has ended'));
  await title('number 2');
  // Its event comes while nobody is there to hear it.
  assert.equal((await daemon.ctl('stop', 'llm')).code, 0);
  const missed = await start();
  assert.equal((await daemon.ctl('start', 'llm')).code, 0);
  await titled(missed, 'number 3');
});

const message = (content, stop) => ({ id: 'm', type: 'message', role: 'assistant', model: 'x', content, stop_reason: stop, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 5 } });

/** A dashboard that asks for materials, whose searches answer what `search(n)` gives, n from 1. */
async function searching(t, search) {
  const { claude, daemon, editor } = await world(t);
  const sessionId = await begin(editor);
  await daemon.sql(`INSERT INTO knowledge_gaps (id, session_id, topic, severity, evidence, related_concepts, last_encountered_at) VALUES ('g1', '${sessionId}', 'templates', 'high', 'x', '[]', '2026-01-01T00:00:00.000Z')`);
  let searches = 0;
  claude.disturb = (number, response) => {
    if (!claude.requests[number - 1].body.tools) return false;
    searches += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(search(searches)));
    return true;
  };
  editor.send('dashboard:request', { statsPeriod: 'all' });
  const answer = await editor.next(['dashboard:materials', 'dashboard:materials_error']);
  return { claude, daemon, answer };
}

const found = (text) => [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, { type: 'web_search_tool_result', tool_use_id: 's', content: [] }, { type: 'text', text }];

scenario('what was found before a pause counts as much as what was found behind it', async (t) => {
  const { claude, answer } = await searching(t, (n) => message(found(`finding ${n}`), n < 3 ? 'pause_turn' : 'end_turn'));
  assert.equal(answer.type, 'dashboard:materials', JSON.stringify(answer.payload));
  const asked = claude.requests.at(-1).body.messages[0].content;
  for (const n of [1, 2, 3]) assert.ok(asked.includes(`finding ${n}`), asked);
});

scenario('a search that is paused for ever is a failure, told and logged, and no success on nothing', async (t) => {
  const { claude, daemon, answer } = await searching(t, (n) => message(found(`finding ${n}`), 'pause_turn'));
  assert.equal(answer.type, 'dashboard:materials_error');
  assert.match(answer.payload.error, /did not finish/);
  assert.equal(claude.requests.filter(({ body }) => body.tools).length, 6);
  assert.ok(claude.requests.every(({ body }) => body.tools), 'nothing was formatted');
  const rows = await daemon.sql("SELECT latency_ms FROM api_call_log WHERE call_type = 'learning_materials'");
  assert.deepEqual(rows, [{ latency_ms: -1 }]);
});

scenario('who is asked to wait for an hour is told so at once, and Claude is left alone', async (t) => {
  const { claude, editor } = await world(t);
  claude.disturb = (number, response) => {
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '3600' }).end('{"type":"error","error":{"type":"rate_limit_error","message":"m"}}');
    return true;
  };
  const began = Date.now();
  const answer = await explain(editor);
  assert.equal(answer.type, 'explain:error');
  assert.match(answer.payload.error, /60 minutes.*after \d{4}-\d\d-\d\dT\d\d:\d\dZ/);
  assert.ok(Date.now() - began < 10000);
  assert.equal(claude.requests.length, 1);
});
