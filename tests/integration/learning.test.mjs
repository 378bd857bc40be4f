// learning.test.mjs - what the learner is told, what Claude is told and what is kept: calls and their rows, plan, wrap-up,
// nudges, explanations, reviews, dashboard.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { QUESTION } from './lib/project.mjs';
import { sideBySide as scenario } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const QUICK = { LLM_RETRY_BASE_MS: '50', LLM_FLOW_RETRY_MS: '50', MEMORY: 'embedded', MODEL_SONNET: 'claude-sonnet-4-5-20250929', MODEL_HAIKU: 'claude-haiku-4-5-20251001' };
const PLAN = { planText: '1. Read greet\n2. Test it', issueSummary: 'greet fails without a name' };

/** A kind of call, by a field that only its answer has. */
const KINDS = {
  phases: 'coach_agent',
  knowledge_gaps: 'knowledge_gap_extraction',
  assessments: 'dreyfus_assessment',
  memories: 'memory_summarisation',
  should_nudge: 'observer_triage',
  explanation: 'explain_this',
  feedback: 'practice_review',
  issues: 'issue_assessment',
  recommendations: 'learning_materials',
};

const kindOf = (body) => KINDS[Object.keys(body.output_config?.format.schema.properties ?? {}).find((name) => KINDS[name])];
const told = (request) => JSON.parse(request.body.messages[0].content);

/**
 * A daemon whose calls to Claude `answers` decides, by kind: a value that becomes the answer, {stop, text, usage} for an answer
 * that ends otherwise, {status} for a refusal of the API, or a function of the number of such calls that gives one of these or a
 * promise of it. Other kinds are answered by the script.
 */
async function world(t, answers = {}, env = {}) {
  const claude = await t.claude();
  const asked = (kind) => claude.requests.filter(({ body }) => kindOf(body) === kind);
  const give = (response, answer) => {
    const { status = 200, stop = 'end_turn', text = JSON.stringify(answer), usage = { input_tokens: 1000, output_tokens: 100 } } = answer;
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [{ type: 'text', text }], stop_reason: stop, stop_sequence: null, usage };
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'm' } };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(status === 200 ? message : error));
  };
  claude.disturb = (number, response) => {
    const kind = kindOf(claude.requests[number - 1].body);
    const answer = answers[kind];
    if (!answer) return false;
    Promise.resolve(typeof answer === 'function' ? answer(asked(kind).length) : answer).then((value) => give(response, value));
    return true;
  };
  const daemon = await t.daemon({ env: { ...QUICK, ANTHROPIC_BASE_URL: claude.url, ...env } });
  return { claude, asked, daemon, editor: await t.editor(daemon) };
}

async function begin(editor) {
  editor.send('session:start', { issueNumber: 7 });
  return (await editor.next('session:started')).payload.sessionId;
}

function explain(editor, over = {}) {
  editor.send('user:explain', { ...QUESTION, ...over });
  return editor.next(['explain:response', 'explain:error']);
}

const EXPLANATION = { explanation: 'It greets.', key_concepts: ['templates'], analogy: null, related_files: null, phase_connection: 'It is what you test.' };

scenario('every call is one row: what was asked, of whom, for how much', async (t) => {
  const { claude, daemon, editor } = await world(t, { explain_this: EXPLANATION });
  const sessionId = await begin(editor);
  assert.equal((await explain(editor)).type, 'explain:response');
  const [{ body, key }] = claude.requests;
  assert.equal(key, 'test-key');
  assert.equal(body.model, QUICK.MODEL_SONNET);
  assert.equal(body.max_tokens, 4096);
  assert.equal(body.output_config.format.type, 'json_schema');
  assert.equal(body.output_config.format.schema.additionalProperties, false);
  const [{ id, created_at, latency_ms, ...row }] = await daemon.sql('SELECT * FROM api_call_log');
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(latency_ms >= 0);
  assert.deepEqual(row, {
    status: 'ok',
    session_id: sessionId,
    call_type: 'explain_this',
    model: body.model,
    input_hash: createHash('sha256').update(body.messages[0].content).digest('hex').slice(0, 16),
    input_tokens: 1000,
    output_tokens: 100,
    cost_estimate: 0.0045, // 3 and 15 dollars for a million
    status: 'ok',
  });
});

scenario('a refusal and a cut-off answer are failures of their own: told in fixed words, logged with -1', async (t) => {
  const answers = {};
  const { asked, daemon, editor } = await world(t, answers);
  await begin(editor);
  for (const [stop, text, sentence] of [
    ['refusal', 'I will not, and here is something private.', 'Claude refused to answer this request.'],
    ['max_tokens', '{"explanation":"It gre', "Claude's answer was too long and was truncated."],
  ]) {
    answers.explain_this = { stop, text };
    const { type, payload } = await explain(editor);
    assert.equal(type, 'explain:error');
    assert.deepEqual(payload, { path: QUESTION.path, error: sentence });
  }
  assert.equal(asked('explain_this').length, 2, 'neither is tried again');
  const rows = await daemon.sql('SELECT latency_ms AS l, input_tokens AS i, output_tokens AS o, cost_estimate AS c, status FROM api_call_log');
  assert.deepEqual(rows, Array(2).fill({ l: -1, i: 0, o: 0, c: 0, status: 'failed' }));
  const done = await daemon.logged('explain_completed', 2);
  assert.deepEqual(done.map(({ data }) => [data.success, data.latency_ms]), [[false, -1], [false, -1]]);
});

const COURSE = {
  phases: [
    {
      number: 4,
      title: 'Read it',
      description: 'Read greet.',
      expected_files: [],
      hint_level: 'line',
      hints: {
        file_hints: [{ path: 'src/greet.ts', style: 'suggested' }, { path: '../outside.ts', style: 'critical' }],
        line_hints: [{ path: 'src/gone.ts', start: 1, end: 2, style: 'focus', hover_text: 'Look here.' }],
      },
      knowledge_gap_opportunities: [],
    },
  ],
  memory_connection: 'You did this last week.',
  estimated_difficulty: 'beginner',
};

scenario('a plan is announced with the hints of its first phase; one that fails leaves nothing', async (t) => {
  const answers = { coach_agent: { phases: 'none' } };
  const { asked, daemon, editor } = await world(t, answers);
  const mcp = await t.mcp(daemon);
  for (const [name, args] of [['paige_run_coaching_pipeline', PLAN], ['paige_end_session', { sessionTranscript: 't' }]]) {
    const { isError, text } = await mcp.once(name, args);
    assert.ok(isError && /^No active session/.test(text), `${name}: ${text}`);
  }
  await begin(editor);
  for (const args of [{}, { include: [] }]) {
    const items = Object.keys(await mcp.ok('paige_get_session_state', args)).sort();
    assert.deepEqual(items, ['buffers', 'diffs', 'dreyfus', 'hints', 'open_files', 'phase', 'plan', 'progress', 'session'], JSON.stringify(args));
  }
  assert.equal((await mcp.once('paige_run_coaching_pipeline', PLAN)).isError, true);
  assert.deepEqual(await daemon.sql('SELECT (SELECT count(*) FROM plans) AS plans, (SELECT count(*) FROM phases) AS phases'), [{ plans: 0, phases: 0 }]);

  answers.coach_agent = COURSE;
  const made = JSON.parse((await mcp.once('paige_run_coaching_pipeline', PLAN)).text);
  assert.deepEqual(told(asked('coach_agent').at(-1)), { plan: PLAN.planText, dreyfus_stage: 'novice', relevant_memories: [] });
  const { payload: ready } = await editor.next('coaching:plan_ready');
  assert.equal(ready.planId, made.planId);
  assert.deepEqual(ready.phases.map(({ number, title, status }) => [number, title, status]), [[1, 'Read it', 'pending']]);
  assert.equal(ready.memoryConnection, null, 'no memories were there');
  assert.equal(ready.estimatedDifficulty, 'beginner');
  const { payload: lines } = await editor.next('editor:highlight_lines');
  assert.deepEqual(lines, { path: 'src/gone.ts', start: 1, end: 2, style: 'focus', hoverText: 'Look here.' });
  const { payload: files } = await editor.next('explorer:hint_files');
  assert.deepEqual(files.hints, [{ path: 'src/greet.ts', style: 'suggested' }], 'nothing outside the project is shown');
  assert.deepEqual(await daemon.sql('SELECT count(*) AS n FROM phase_hints'), [{ n: 3 }]);

  answers.coach_agent = { ...COURSE, phases: [] };
  assert.deepEqual((await mcp.ok('paige_run_coaching_pipeline', { ...PLAN, planText: 'Nothing to do.' })).phases, []);
  assert.deepEqual(await daemon.sql('SELECT count(*) AS n FROM plans'), [{ n: 2 }]);
});

scenario('a wrap-up whose calls fail completes the session all the same, and is done once', async (t) => {
  const answers = { knowledge_gap_extraction: { status: 400 } };
  const { asked, claude, daemon, editor } = await world(t, answers);
  const mcp = await t.mcp(daemon);
  const end = async () => JSON.parse((await mcp.once('paige_end_session', { sessionTranscript: 'x'.repeat(60000) })).text);

  const first = await begin(editor);
  const one = await end();
  assert.deepEqual(one, { knowledgeGaps: 0, kataSpecs: 0, dreyfusUpdates: 1, memoriesStored: 1, sessionStatus: 'completed' }, 'the others go on');
  assert.equal(told(asked('memory_summarisation')[0]).transcript.length, 50000);
  const { sessionStatus, ...counts } = one;
  assert.deepEqual((await editor.next('session:completed')).payload, { sessionId: first, ...counts });

  for (const kind of ['dreyfus_assessment', 'memory_summarisation']) answers[kind] = { status: 400 };
  const second = await begin(editor);
  const nothing = { knowledgeGaps: 0, kataSpecs: 0, dreyfusUpdates: 0, memoriesStored: 0 };
  assert.deepEqual(await end(), { ...nothing, sessionStatus: 'completed' });
  assert.deepEqual((await editor.next('session:completed')).payload, { sessionId: second, ...nothing });
  assert.deepEqual(await daemon.sql('SELECT DISTINCT status FROM sessions'), [{ status: 'completed' }]);

  const before = claude.requests.length;
  assert.deepEqual(await end(), { ...nothing, sessionStatus: 'completed' });
  assert.equal(claude.requests.length, before, 'a completed session is not wrapped up again');
});

scenario('the Observer nudges, then cools down; a question that fails costs nothing', async (t) => {
  const answers = { observer_triage: { status: 400 } };
  const { asked, daemon, editor } = await world(t, answers);
  await begin(editor);
  await editor.next('observer:status', { where: ({ active }) => active });
  editor.send('file:open', { path: 'README.md' });
  await daemon.says('observer', 'triage failed');

  const context = { current_file: 'README.md', expected_file: 'src/greet.ts', time_in_file: null, phase_description: null };
  answers.observer_triage = { should_nudge: true, confidence: 0.7, signal: 'wrong_file', reasoning: 'r', suggested_context: context };
  editor.send('file:open', { path: 'README.md' });
  const { payload } = await editor.next('observer:nudge');
  assert.deepEqual(payload, { signal: 'wrong_file', confidence: 0.7, context });
  assert.deepEqual((await daemon.logged('nudge_sent')).map((row) => row.data), [{ signal: 'wrong_file', confidence: 0.7 }]);
  assert.equal(asked('observer_triage').length, 2);
  assert.ok(asked('observer_triage').every(({ body }) => body.model === QUICK.MODEL_HAIKU));
  assert.equal(told(asked('observer_triage')[1]).dreyfus_stage, 'novice');

  editor.send('file:open', { path: 'README.md' });
  const held = await daemon.logged('nudge_suppressed');
  assert.deepEqual(held.map((row) => row.data), [{ signal: null, confidence: null, reason: 'cooldown' }]);
  assert.equal(asked('observer_triage').length, 2);
});

scenario('what the learner says to a nudge is logged, and "not now" begins the cooldown anew', async (t) => {
  const context = { current_file: null, expected_file: null, time_in_file: null, phase_description: null };
  const cooldown = 8000;
  const { daemon, editor } = await world(t, { observer_triage: { should_nudge: true, confidence: 0.7, signal: 'wrong_file', reasoning: 'r', suggested_context: context } }, { OBSERVER_COOLDOWN_MS: String(cooldown) });
  await begin(editor);
  await editor.next('observer:status', { where: ({ active }) => active });
  editor.send('file:open', { path: 'README.md' });
  await editor.next('observer:nudge');
  const nudged = Date.now();
  editor.send('observer:nudge_answer', { signal: 'wrong_file', helpful: true });
  await daemon.logged('nudge_answered');
  await sleep(nudged + cooldown / 2 - Date.now());
  editor.send('observer:nudge_answer', { signal: 'wrong_file', helpful: false });
  const rows = await daemon.logged('nudge_answered', 2);
  assert.deepEqual(rows.map((row) => row.data), [{ signal: 'wrong_file', helpful: true }, { signal: 'wrong_file', helpful: false }]);
  await sleep(nudged + cooldown + 500 - Date.now());
  editor.send('file:open', { path: 'README.md' });
  assert.deepEqual((await daemon.logged('nudge_suppressed')).map((row) => row.data.reason), ['cooldown']);

  editor.send('observer:nudge_answer', { signal: 'rain', helpful: false });
  const { payload } = await editor.next('connection:error');
  assert.equal(payload.code, 'INVALID_MESSAGE');
  assert.match(payload.message, /signal/);
});

scenario('a nudge for a session that has ended is thrown away', async (t) => {
  const nudge = { should_nudge: true, confidence: 1, signal: 'idle', reasoning: 'r', suggested_context: { current_file: null, expected_file: null, time_in_file: null, phase_description: null } };
  let answer;
  const { asked, daemon, editor } = await world(t, { observer_triage: () => new Promise((resolve) => (answer = () => resolve(nudge))) });
  await begin(editor);
  await editor.next('observer:status', { where: ({ active }) => active });
  editor.send('file:open', { path: 'README.md' });
  await until('the question', () => asked('observer_triage').length === 1);
  editor.send('session:end');
  await editor.next('observer:status', { where: ({ active }) => !active });
  answer();
  await daemon.says('observer', 'thrown away');
  assert.deepEqual(editor.of('observer:nudge'), []);
});

scenario('an explanation knows the learner and the phase', async (t) => {
  const { asked, daemon, editor } = await world(t, { explain_this: EXPLANATION });
  await begin(editor);
  await daemon.sql("INSERT INTO dreyfus_assessments VALUES ('a', 'TypeScript', 'competent', 0.5, 'e', '2026-01-01T00:00:00.000Z')");
  const { payload: alone } = await explain(editor);
  assert.deepEqual(alone, { path: QUESTION.path, explanation: 'It greets.', keyConcepts: ['templates'], analogy: null, relatedFiles: null, phaseConnection: null });
  const [{ body }] = asked('explain_this');
  assert.ok(JSON.stringify(body.system).includes('competent'));
  assert.equal(told(asked('explain_this')[0]).current_phase, null);

  const mcp = await t.mcp(daemon);
  await mcp.ok('paige_run_coaching_pipeline', PLAN);
  await mcp.ok('paige_update_phase', { phase: 1, status: 'active' });
  const long = 'x'.repeat(20000);
  const { payload } = await explain(editor, { selectedText: '', surroundingContext: long });
  assert.equal(payload.phaseConnection, EXPLANATION.phase_connection);
  const asIs = told(asked('explain_this')[1]);
  assert.equal(asIs.current_phase.number, 1);
  assert.deepEqual([asIs.selected_code, asIs.surrounding_context], ['', long]);
  const [{ data }] = await daemon.logged('explain_completed', 2);
  assert.deepEqual(Object.keys(data).sort(), ['latency_ms', 'model', 'path', 'success']);
  assert.deepEqual([data.path, data.success, data.model], [QUESTION.path, true, QUICK.MODEL_SONNET]);

  const before = asked('explain_this').length;
  fs.writeFileSync(path.join(daemon.projectDir, 'logo.png'), 'png');
  assert.deepEqual((await explain(editor, { path: 'logo.png' })).payload, { path: 'logo.png', error: 'Cannot explain binary files' });
  assert.equal(asked('explain_this').length, before);
});

scenario('a review unlocks constraints, and knows the attempts made under the same ones', async (t) => {
  const answers = { practice_review: { correct: true, feedback: 'Good.', level: 5, passed: true, follow_up: null, dreyfus_signal: 'stable' } };
  const { asked, daemon, editor } = await world(t, answers);
  const sessionId = await begin(editor);
  const constraints = [['A', 1], ['B', 3], ['C', 5], ['D', 6]].map(([title, minLevel]) => ({ title, description: title.toLowerCase(), minLevel }));
  const attempts = [{ code: 'old', review: 'r', level: 2, passed: false, constraints: ['A'] }, { code: 'plain', level: 2, constraints: [] }];
  await daemon.sql(`INSERT INTO knowledge_gaps (id, session_id, topic, severity, evidence, related_concepts, last_encountered_at) VALUES ('g', '${sessionId}', 'templates', 'high', 'x', '[]', '2026-01-01T00:00:00.000Z');
    INSERT INTO kata_specs VALUES ('k', 'g', 'T', 'Do it.', '', 'The secret is a backtick.', '${JSON.stringify(constraints)}', '${JSON.stringify(attempts)}')`);
  editor.send('session:end');
  await editor.next('session:ended');
  const review = (over) => {
    editor.send('user:review', { kataId: 'k', userCode: '', activeConstraintTitles: ['A', 'unknown'], ...over });
    return editor.next(['review:response', 'review:error']);
  };
  const kept = async () => JSON.parse((await daemon.sql("SELECT user_attempts AS a FROM kata_specs WHERE id = 'k'"))[0].a);

  const { type, payload } = await review();
  assert.equal(type, 'review:response', JSON.stringify(payload));
  assert.deepEqual(payload.unlockedConstraints.map(({ title }) => title), ['B', 'C']);
  const message = told(asked('practice_review')[0]);
  assert.deepEqual(message, {
    kata_description: 'Do it.',
    instructor_notes: 'The secret is a backtick.',
    active_constraints: [{ title: 'A', description: 'a' }],
    user_code: '',
    previous_attempts: [{ code: 'old', review: 'r', level: 2, passed: false }],
  });
  assert.deepEqual((await kept()).slice(2).map(({ review: text, level, constraints: titles }) => [text, level, titles]), [['Good.', 5, ['A']]]);

  answers.practice_review = { status: 400 };
  assert.equal((await review()).type, 'review:error');
  assert.equal((await kept()).length, 3, 'what was not reviewed is no attempt');

  const before = asked('practice_review').length;
  assert.deepEqual((await review({ kataId: 'none' })).payload, { kataId: 'none', error: 'Kata not found' });
  assert.equal(asked('practice_review').length, before);
  assert.ok(!JSON.stringify(editor.messages).includes('backtick'), 'no window sees the notes');
});

scenario('a kata is opened for the window that asks, without the notes for the reviewer', async (t) => {
  const { asked, daemon, editor } = await world(t);
  const other = await t.editor(daemon);
  const sessionId = await begin(editor);
  const task = { id: 'k', title: 'Templates', description: '**Greet** a <b>name</b>.', scaffoldingCode: 'const greet = () => {\n};\n' };
  const constraints = [['No plus', 1], ['One line', 4]].map(([title, minLevel]) => ({ title, description: `${title}.`, minLevel }));
  await daemon.sql(`INSERT INTO knowledge_gaps (id, session_id, topic, severity, evidence, related_concepts, last_encountered_at) VALUES ('g', '${sessionId}', 'templates', 'high', 'x', '[]', '2026-01-01T00:00:00.000Z');
    INSERT INTO kata_specs VALUES ('k', 'g', '${task.title}', '${task.description}', '${task.scaffoldingCode}', 'The secret is a backtick.', '${JSON.stringify(constraints)}', '[{"code":"old","level":2,"constraints":[]}]');
    INSERT INTO kata_specs VALUES ('bare', 'g', '', '', '', 'The secret is a backtick.', '["A title alone"]', '[]')`);
  const open = (kataId) => editor.ask('practice:open_kata', { kataId }, ['practice:kata_load', 'connection:error', 'review:error']);

  const { type, payload } = await open('k');
  assert.equal(type, 'practice:kata_load', JSON.stringify(payload));
  assert.deepEqual(payload, { kata: task, constraints, attempts: [{ number: 1, code: 'old', level: 2, constraints: [] }], attemptsCount: 1 }, 'the task, what was tried, and nothing else');
  editor.send('session:end'); // it needs no session
  await editor.next('session:ended');
  assert.deepEqual((await open('bare')).payload, { kata: { id: 'bare', title: '', description: '', scaffoldingCode: '' }, constraints: [{ title: 'A title alone', description: 'A title alone', minLevel: 1 }], attempts: [], attemptsCount: 0 });

  for (const [kataId, code, message] of [
    ['none', 'NOT_FOUND', 'kataId "none": there is no such kata. dashboard:request tells which there are.'],
    ['k" or "1"="1', 'NOT_FOUND', 'kataId "k" or "1"="1": there is no such kata. dashboard:request tells which there are.'],
    ['', 'INVALID_MESSAGE', 'payload.kataId: must not be empty'],
    ['x'.repeat(65), 'INVALID_MESSAGE', 'payload.kataId: expected at most 64 bytes, got 65'],
    [7, 'INVALID_MESSAGE', 'payload.kataId: expected a string'],
    [undefined, 'INVALID_MESSAGE', 'payload.kataId: expected a string'],
  ]) {
    const refused = await open(kataId);
    assert.deepEqual([refused.type, refused.payload.code, refused.payload.message], ['connection:error', code, message]);
  }
  assert.deepEqual(asked('practice_review'), [], 'Claude is not asked');
  editor.send('dashboard:request', { statsPeriod: 'all' });
  await other.next('dashboard:state');
  assert.deepEqual(other.of('practice:kata_load').concat(other.of('connection:error')), [], 'no other window hears of it');
  for (const window of [editor, other]) assert.ok(!JSON.stringify(window.messages).includes('backtick'), 'no window sees the notes');
});

scenario('a window that comes during a review is told of it, and of its end, also when who reviews or who waits is killed', async (t) => {
  let give;
  const review = { correct: true, feedback: 'Good.', level: 5, passed: true, follow_up: null, dreyfus_signal: 'stable' };
  const answers = { practice_review: () => new Promise((resolve) => (give = resolve)) };
  const { asked, daemon, editor } = await world(t, answers, { LLM_MAX_RETRIES: '0' });
  const sessionId = await begin(editor);
  await daemon.sql(`INSERT INTO knowledge_gaps (id, session_id, topic, severity, evidence, related_concepts, last_encountered_at) VALUES ('g', '${sessionId}', 'templates', 'high', 'x', '[]', '2026-01-01T00:00:00.000Z');
    INSERT INTO kata_specs VALUES ('k', 'g', 'T', 'Do it.', '', 'The secret is a backtick.', '[]', '[]');
    INSERT INTO kata_specs VALUES ('other', 'g', 'T', 'Do it.', '', 'The secret is a backtick.', '[]', '[]')`);
  const load = async (window, kataId = 'k') => (await window.ask('practice:open_kata', { kataId }, 'practice:kata_load')).payload;
  const handIn = async (window, userCode, nth) => {
    window.send('user:review', { kataId: 'k', userCode });
    await until(`review ${nth} is asked for`, () => asked('practice_review').length === nth);
  };
  const before = Date.now();
  assert.equal((await load(editor)).reviewSince, undefined);
  await handIn(editor, 'one', 1);
  editor.close();

  const late = await t.editor(daemon);
  const { reviewSince } = await load(late);
  assert.match(reviewSince, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(Date.parse(reviewSince) >= before - 1 && Date.parse(reviewSince) <= Date.now() + 1);
  assert.equal((await load(late, 'other')).reviewSince, undefined, 'of this kata alone');
  assert.deepEqual((await load(late)).attempts, []);
  give(review);
  assert.equal((await late.next('review:response')).payload.kataId, 'k');
  const { attempts, reviewSince: none } = await load(late);
  assert.deepEqual([attempts, none], [[{ number: 1, code: 'one', review: 'Good.', level: 5, passed: true, constraints: [] }], undefined]);

  const watcher = await t.editor(daemon);
  await handIn(late, 'two', 2);
  assert.ok((await load(watcher)).reviewSince);
  await daemon.replaced('llm', await daemon.kill9('llm'));
  const { payload } = await watcher.next('review:error');
  assert.equal(payload.kataId, 'k');
  assert.ok(payload.error.length > 0);
  assert.equal((await load(watcher)).reviewSince, undefined, 'no answer is to come');

  await handIn(late, 'three', 3);
  assert.ok((await load(watcher)).reviewSince);
  const { connections } = watcher;
  await daemon.replaced('gateway', await daemon.kill9('gateway'));
  await until('the window is back', () => watcher.connections > connections && watcher.connected);
  assert.equal((await load(watcher)).reviewSince, undefined, 'nobody waits any more');
  give(review);
  await until('the attempt is kept', async () => (await load(watcher)).attemptsCount === 2);
  assert.deepEqual((await load(watcher)).attempts.map(({ number, code }) => [number, code]), [[2, 'three'], [1, 'one']]);
  assert.ok(![late, watcher].some((window) => JSON.stringify(window.messages).includes('backtick')), 'no window sees the notes');
});

/** A gh that lists what stands in the file `issues` of its directory, or fails as the file `mode` says. */
const GH = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
case "$1 $2" in
"issue view") echo '{"title":"t"}' ;;
"api user") echo '{"login":"ada"}' ;;
"issue list")
	case $(cat mode) in
	list) cat issues ;;
	none) echo 'no git remotes found' >&2; exit 1 ;;
	hang) cat; exec sleep 60 ;;
	esac ;;
esac
`;

scenario('the dashboard shows its state at once, then issues, and says what is missing', async (t) => {
  const tools = t.directory('tools');
  const mode = (name) => fs.writeFileSync(path.join(tools, 'mode'), name);
  const list = (count) => fs.writeFileSync(path.join(tools, 'issues'), JSON.stringify(Array.from({ length: count }, (_, i) => ({ number: i + 1, title: `Issue ${i + 1}`, body: 'b'.repeat(5000), labels: [], assignees: [], comments: [] }))));
  fs.writeFileSync(path.join(tools, 'gh'), GH, { mode: 0o755 });
  mode('none');
  list(12);
  const answers = {};
  const { asked, claude, daemon, editor } = await world(t, answers, { PATH: `${tools}:${process.env.PATH}`, GH_TIMEOUT_MS: '3000', LLM_MAX_RETRIES: '0' });
  const sessionId = await begin(editor);
  const load = async (period = 'all') => {
    editor.send('dashboard:request', { statsPeriod: period });
    const state = await editor.next('dashboard:state');
    const issues = await editor.next(['dashboard:issues', 'dashboard:issues_error']);
    assert.ok(state.seq < issues.seq, 'the state comes first');
    return { ...issues, state: state.payload };
  };

  const empty = await load('7d');
  assert.deepEqual(empty.payload, { error: 'No GitHub remote found' });
  assert.deepEqual([empty.state.dreyfus, empty.state.katas, empty.state.inProgressSessions.length], [[], [], 1]);
  const { period, issuesWorkedOn, ...zeros } = empty.state.stats;
  assert.deepEqual([period, issuesWorkedOn], ['7d', 1]);
  assert.ok(Object.values(zeros).every((value) => value === 0), JSON.stringify(zeros));
  assert.equal(claude.requests.length, 0, 'nobody is asked for issues that are not there, or for materials without gaps');
  assert.deepEqual((await daemon.logged('dashboard_loaded')).map((row) => row.data), [{ statsPeriod: '7d', issuesLoaded: false, materialsLoaded: false }]);

  mode('list');
  answers.issue_assessment = (number) => {
    delete answers.issue_assessment; // the next one is the script's
    return { status: 500 + number };
  };
  const { payload } = await load();
  assert.equal(asked('issue_assessment').length, 2, 'what may pass is tried again');
  assert.deepEqual(payload.issues.map(({ number }) => number), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const message = told(asked('issue_assessment')[0]);
  assert.equal(message.github_issues.length, 12);
  assert.equal(message.github_issues[0].body.length, 2000);
  assert.equal(message.user_login, 'ada');
  for (const name of ['user_dreyfus_stages', 'recent_sessions', 'knowledge_gaps', 'related_memories']) assert.ok(Array.isArray(message[name]), name);
  assert.deepEqual(editor.of('dashboard:materials').concat(editor.of('dashboard:materials_error')), []);

  list(0);
  const states = editor.of('dashboard:state').length;
  editor.send('dashboard:refresh_issues');
  assert.deepEqual((await editor.next('dashboard:issues')).payload.issues, []);
  assert.equal(editor.of('dashboard:state').length, states, 'nothing else is loaded again');

  list(3);
  for (let i = 0; i < 2; i += 1) editor.send('dashboard:request', { statsPeriod: 'all' });
  for (let i = 0; i < 2; i += 1) assert.equal((await editor.next('dashboard:issues')).payload.issues.length, 3, 'each is answered');

  mode('hang');
  await daemon.sql(`INSERT INTO knowledge_gaps (id, session_id, topic, severity, evidence, related_concepts, last_encountered_at) VALUES ('g', '${sessionId}', 'templates', 'high', 'x', '[]', '2026-01-01T00:00:00.000Z')`);
  editor.send('dashboard:request', { statsPeriod: 'all' });
  const resource = (url) => ({ type: 'article', title: '<b>T</b>', url, description: 'd', relevance: 'direct', estimated_time: '5 min' });
  const urls = ['https://example.org/a?b=c', 'javascript:alert(1)', 'https://', 'https://example.org/"x', 'http://example.org/'];
  answers.learning_materials = { recommendations: [{ knowledge_gap: 'templates', resources: urls.map(resource), study_order: 's', practice_connection: null }] };
  const materials = await editor.next(['dashboard:materials', 'dashboard:materials_error']);
  assert.deepEqual(materials.payload.recommendations[0].resources.map(({ url }) => url), [urls[0], urls[4]], 'what is no address is dropped');
  const issues = await editor.next('dashboard:issues_error');
  assert.ok(materials.seq < issues.seq, 'materials do not wait for issues');
  assert.match(issues.payload.error, /./);
});

scenario('without gh the dashboard says what it is for and how to get it', async (t) => {
  const { editor } = await world(t, {}, { PATH: t.directory('tools') });
  editor.send('dashboard:request', { statsPeriod: 'all' });
  const { payload } = await editor.next(['dashboard:issues', 'dashboard:issues_error']);
  assert.deepEqual(payload, { error: 'GitHub CLI not found. Paige reads the open issues of the project with it. To install it: apt install gh. To log in: gh auth login' });
});

scenario('a dashboard that is opened again is answered from what was paid for, as long as the question is the same', async (t) => {
  const tools = t.directory('tools');
  const list = (count) => fs.writeFileSync(path.join(tools, 'issues'), JSON.stringify(Array.from({ length: count }, (_, i) => ({ number: i + 1, title: `Issue ${i + 1}`, body: 'b', labels: [], assignees: [], comments: [] }))));
  fs.writeFileSync(path.join(tools, 'gh'), GH, { mode: 0o755 });
  fs.writeFileSync(path.join(tools, 'mode'), 'list');
  list(2);
  const answers = { learning_materials: { recommendations: [{ knowledge_gap: 'templates', resources: [], study_order: 's', practice_connection: null }] } };
  const { asked, daemon, editor } = await world(t, answers, { PATH: `${tools}:${process.env.PATH}` });
  const sessionId = await begin(editor);
  const gap = (id, topic) => daemon.sql(`INSERT INTO knowledge_gaps (id, session_id, topic, severity, evidence, related_concepts, last_encountered_at) VALUES ('${id}', '${sessionId}', '${topic}', 'high', 'x', '[]', '2026-01-01T00:00:00.000Z')`);
  await gap('g1', 'templates');
  const load = async (request = { reuse: true }) => {
    editor.send('dashboard:request', request);
    const [issues, materials] = await Promise.all(['issues', 'materials'].map((part) => editor.next([`dashboard:${part}`, `dashboard:${part}_error`])));
    return { issues: issues.payload.issues.length, materials: materials.payload.recommendations.length };
  };
  const paid = () => [asked('issue_assessment').length, asked('learning_materials').length];
  const rows = async () => (await daemon.sql('SELECT call_type FROM api_call_log ORDER BY call_type')).map((row) => row.call_type);

  assert.deepEqual(await load(), { issues: 2, materials: 1 });
  assert.deepEqual(paid(), [1, 1], 'the first one is paid for');
  for (const statsPeriod of ['7d', '30d']) assert.deepEqual(await load({ statsPeriod, reuse: true }), { issues: 2, materials: 1 });
  for (const worker of ['llm', 'store']) await daemon.replaced(worker, await daemon.kill9(worker));
  assert.deepEqual(await load(), { issues: 2, materials: 1 });
  assert.deepEqual(paid(), [1, 1], 'neither another period nor another process is another question');
  assert.deepEqual(await rows(), ['issue_assessment', 'learning_materials'], 'and no call is logged that was none');

  list(3);
  assert.deepEqual(await load(), { issues: 3, materials: 1 });
  assert.deepEqual(paid(), [2, 1], 'other issues are another question');
  await gap('g2', 'lifetimes');
  await load();
  assert.deepEqual(paid(), [3, 2], 'and so are other gaps, which both parts are told');

  await load({});
  assert.deepEqual(paid(), [4, 3], 'who does not say that an earlier answer will do pays');
  editor.send('dashboard:refresh_issues');
  await editor.next('dashboard:issues');
  assert.deepEqual(paid(), [5, 3], 'and so does who wants them looked at again');

  list(4);
  const seen = editor.of('dashboard:materials').length;
  let open;
  answers.issue_assessment = () => new Promise((resolve) => (open = () => resolve({ issues: [] })));
  for (let i = 0; i < 3; i += 1) editor.send('dashboard:request', { reuse: true });
  await until('one is asked', () => open);
  await until('materials of all three', () => editor.of('dashboard:materials').length === seen + 3);
  open();
  for (let i = 0; i < 3; i += 1) assert.deepEqual((await editor.next('dashboard:issues')).payload.issues, []);
  assert.deepEqual(paid(), [6, 3], 'of windows that ask at the same time one pays');
});
