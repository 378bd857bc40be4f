// What is asked of Claude and paid for, when any worker is killed at any moment of it: who asked is told within two seconds,
// who asks again gets what was paid for already, and only the rest is asked of Claude.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { QUESTION } from './lib/project.mjs';
import { sideBySide as scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const PLAN = { planText: '# Plan\n\n1. Read greet\n2. Test it', issueSummary: 'greet fails without a name' };
const SOON_MS = 2000;
const VERSION = '2026-07-28';
const META = { 'io.modelcontextprotocol/protocolVersion': VERSION, 'io.modelcontextprotocol/clientCapabilities': {}, 'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' } };
const KATA = 'k';

/** Calls a tool: {error, text} of its result, or {lost: true} when the connection ends without one. */
async function tool({ daemon }, name, args) {
  try {
    const answer = await fetch(`${daemon.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', connection: 'close', 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': name },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: META } }),
    });
    const text = await answer.text();
    const messages = text.startsWith('{') ? [JSON.parse(text)] : text.split('\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)));
    const { result } = messages.find((message) => message.id === 1) ?? {};
    return result ? { error: result.isError === true, text: result.content[0].text } : { lost: true };
  } catch {
    return { lost: true };
  }
}

/** Asks by a window: {error, text} of the answer; {lost: true} when the gateway that was asked is gone. */
async function ask({ editor }, type, payload, good, bad) {
  await until('the window is connected', () => editor.connected);
  const answer = await editor.ask(type, payload, [good, bad]);
  return answer ? { error: answer.type === bad, text: JSON.stringify(answer.payload) } : { lost: true };
}

/** Each call that is paid for: how it is made, how many requests it is, and what it leaves once. */
const CALLS = {
  pipeline: { requests: 1, make: (w) => tool(w, 'paige_run_coaching_pipeline', PLAN), left: 'SELECT count(*) AS n FROM plans' },
  'end of a session': { requests: 3, make: (w) => tool(w, 'paige_end_session', { sessionTranscript: 'learner: why?' }), left: "SELECT count(*) AS n FROM sessions WHERE status = 'completed'" },
  explanation: { requests: 1, make: (w) => ask(w, 'user:explain', QUESTION, 'explain:response', 'explain:error'), left: 'SELECT 1 AS n' },
  review: { requests: 1, make: (w) => ask(w, 'user:review', { kataId: KATA, code: 'export const greet = 1;', level: 1, constraints: [] }, 'review:response', 'review:error'), left: 'SELECT json_array_length(user_attempts) AS n FROM kata_specs' },
};

/** A daemon with a session and a kata, and a Claude that holds requests from number `first` on. */
async function world(t, first = 1) {
  const claude = await t.claude();
  const daemon = await t.daemon({ env: { ANTHROPIC_BASE_URL: claude.url, LLM_RETRY_BASE_MS: '50', LLM_MAX_RETRIES: '0', LLM_FLOW_RETRY_MS: '50', MEMORY: 'embedded', OBSERVER_BUFFER_UPDATES: '1000' } });
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 7 });
  const { sessionId } = (await editor.next('session:started')).payload;
  await daemon.sql(`INSERT INTO knowledge_gaps VALUES ('g', '${sessionId}', 'quotes', 'low', 'e', '[]', 1, '2026-01-01T00:00:00.000Z', 1)`);
  await daemon.sql(`INSERT INTO kata_specs VALUES ('${KATA}', 'g', 'T', 'Do it.', '', 'n', '[]', '[]')`);
  claude.hold(first);
  return { claude, daemon, editor };
}

const count = async (daemon, sql) => (await daemon.sql(sql))[0].n;
const kept = (daemon) => fs.readFileSync(path.join(daemon.dataDir, 'paid-works'), 'utf8');
const toolCalls = (daemon) => count(daemon, "SELECT count(*) AS n FROM action_log WHERE action_type = 'mcp_tool_call'");
const nothingKept = (daemon) => until('the store has forgotten it', () => kept(daemon) === '{"works":[]}');

for (const [name, call] of Object.entries(CALLS)) {
  for (const worker of ['gateway', 'store', 'llm', 'fswatch', 'observer']) {
    scenario(`${name}: kill -9 of ${worker} while Claude thinks`, async (t) => {
      const w = await world(t);
      const { claude, daemon } = w;
      const first = call.make(w);
      await until('Claude is asked', () => claude.held.length === 1);
      const isTool = name === 'pipeline' || name === 'end of a session';
      assert.equal(await toolCalls(daemon), isTool ? 1 : 0, 'the call of a tool is logged before Claude is asked');
      const start = Date.now();
      const old = await daemon.kill9(worker);
      if (worker === 'llm' || worker === 'gateway') {
        const told = await first;
        assert.ok(Date.now() - start < SOON_MS, `${Date.now() - start} ms`);
        if (worker === 'llm') assert.equal(told.error, true);
        if (worker === 'llm' && /pipeline|session/.test(name)) assert.match(told.text, /Call the tool again with the same arguments/);
      }
      await daemon.replaced(worker, old);
      claude.letGo();
      // Whoever was told of a failure, or lost its answer, asks again.
      const answer = worker === 'llm' || worker === 'gateway' ? await call.make(w) : await first;
      assert.equal(answer.error, false, JSON.stringify(answer));
      // The request that Claude had not answered when llm died is made again.
      assert.equal(claude.requests.length, call.requests + (worker === 'llm' ? 1 : 0));
      assert.equal(await count(daemon, call.left), 1);
      const calls = worker === 'llm' || worker === 'gateway' ? 2 : 1;
      if (name === 'pipeline') await until('a row for each call', async () => (await toolCalls(daemon)) === calls);
    });
  }

  scenario(`${name}: finished while nobody listened, then kill -9 of llm: found, and paid once`, async (t) => {
    const w = await world(t);
    const { claude, daemon } = w;
    const first = call.make(w);
    await until('Claude is asked', () => claude.held.length === 1);
    await daemon.replaced('gateway', await daemon.kill9('gateway'));
    await first;
    claude.letGo();
    await until('the answer is kept', () => kept(daemon).includes('"step":"answer"'));
    await daemon.replaced('llm', await daemon.kill9('llm'));
    await daemon.replaced('store', await daemon.kill9('store'));
    const start = Date.now();
    const answer = await call.make(w);
    assert.equal(answer.error, false, JSON.stringify(answer));
    assert.ok(Date.now() - start < SOON_MS, `${Date.now() - start} ms`);
    assert.equal(claude.requests.length, call.requests);
    assert.equal(await count(daemon, call.left), 1);
    await nothingKept(daemon);
  });
}

for (const how of ['kill -9', 'restart']) {
  scenario(`${how} of llm between the calls of a wrap-up: what Claude has answered counts, once`, async (t) => {
    const w = await world(t, 2);
    const { claude, daemon } = w;
    const first = CALLS['end of a session'].make(w);
    await until('the second call', () => claude.held.length === 1);
    const gaps = await daemon.sql("SELECT topic, frequency FROM knowledge_gaps WHERE id <> 'g' ORDER BY topic");
    const katas = await count(daemon, 'SELECT count(*) AS n FROM kata_specs');
    assert.ok(gaps.length > 0 && katas > 1);
    const old = daemon.worker('llm');
    if (how === 'restart') assert.equal((await daemon.ctl('restart', 'llm')).code, 0);
    else await daemon.kill9('llm');
    const told = await first;
    assert.equal(told.error, true);
    assert.match(told.text, /[Cc]all (the tool )?again/);
    await daemon.replaced('llm', old);
    claude.letGo();
    const answer = await CALLS['end of a session'].make(w);
    assert.equal(answer.error, false, JSON.stringify(answer));
    assert.equal(claude.requests.length, 4, 'the second call alone is made again');
    assert.deepEqual(await daemon.sql("SELECT topic, frequency FROM knowledge_gaps WHERE id <> 'g' ORDER BY topic"), gaps, 'no gap counts twice');
    assert.equal(await count(daemon, 'SELECT count(*) AS n FROM kata_specs'), katas);
    await nothingKept(daemon);
  });
}

scenario('what was answered and arrived is done once more when it is asked for once more, also by another llm', async (t) => {
  const w = await world(t, Infinity);
  const { claude, daemon } = w;
  assert.equal((await CALLS.pipeline.make(w)).error, false);
  await nothingKept(daemon);
  await daemon.replaced('llm', await daemon.kill9('llm'));
  assert.equal((await CALLS.pipeline.make(w)).error, false);
  assert.equal(claude.requests.length, 2);
  assert.equal(await count(daemon, 'SELECT count(*) AS n FROM plans'), 2);
  // Two at once are two.
  const both = await Promise.all([CALLS.pipeline.make(w), CALLS.pipeline.make(w)]);
  assert.deepEqual(both.map(({ error }) => error), [false, false]);
  assert.equal(await count(daemon, 'SELECT count(*) AS n FROM plans'), 4);
  assert.equal(await toolCalls(daemon), 4);
});
