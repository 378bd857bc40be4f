// console.test.mjs - what a window can ask that shows what Paige does and why: the action log, the Observer's decisions, guards.
import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { Guard } from './lib/guard.mjs';
import { scenario, unless } from './lib/scenario.mjs';
import { cannot, NOBODY, stranger } from './lib/stranger.mjs';
import { sleep, until } from './lib/wait.mjs';
import { ALL_WORKERS } from './lib/workers.mjs';

const SECOND = 1000;
const EXPECTED_WORKER = `payload.worker: expected ${ALL_WORKERS.slice(0, -1).join(', ')} or ${ALL_WORKERS.at(-1)}`;
const EXPECTED_LOG = `payload.worker: expected ${ALL_WORKERS.join(', ')} or paiged`;

/** The answer to a request; fails on connection:error. */
async function ask(editor, type, payload, answer) {
  const id = `m${editor.messages.length}`;
  editor.send(type, payload);
  const message = await editor.next([answer, 'connection:error']);
  assert.equal(message.type, answer, JSON.stringify(message.payload));
  assert.equal(message.id, id, 'the answer carries the id of its question');
  return message.payload;
}

/** Each [type, payload, text] is refused with INVALID_MESSAGE and that text, to the sender alone. */
async function refused(editor, cases) {
  for (const [type, payload, text] of cases) {
    editor.send(type, payload);
    const { payload: error } = await editor.next('connection:error');
    assert.deepEqual([error.code, error.message], ['INVALID_MESSAGE', text], `${type} ${JSON.stringify(payload)}`);
  }
}

async function begin(editor) {
  editor.send('session:start', { issueNumber: 7 });
  return (await editor.next('session:started')).payload.sessionId;
}

scenario('the action log comes in pages, and new rows to windows that follow it', async (t) => {
  const daemon = await t.daemon();
  const [editor, other] = [await t.editor(daemon), await t.editor(daemon)];
  assert.deepEqual(await ask(editor, 'log:page', {}, 'log:rows'), { rows: [] });
  editor.send('log:follow', { follow: true });
  const sessionId = await begin(editor);
  for (let i = 0; i < 20; i++) other.send('editor:tab_switch', { toPath: `src/${i}.ts` });
  await daemon.logged('tab_switch', 20);

  const first = await ask(editor, 'log:page', { limit: 10, types: ['tab_switch'] }, 'log:rows');
  assert.deepEqual(first.rows.map(({ data }) => data.toPath), [...Array(10).keys()].map((i) => `src/${19 - i}.ts`));
  const second = await ask(editor, 'log:page', { limit: 15, before: first.next, types: ['tab_switch'] }, 'log:rows');
  assert.deepEqual(second.rows.map(({ data }) => data.toPath), [...Array(10).keys()].map((i) => `src/${9 - i}.ts`));
  assert.equal(second.next, undefined, 'the end of the log');
  assert.deepEqual((await ask(editor, 'log:page', { text: 'SRC/7.ts' }, 'log:rows')).rows.map(({ data }) => data), [{ toPath: 'src/7.ts' }]);

  const { rows } = await ask(editor, 'log:page', { limit: 500 }, 'log:rows');
  assert.deepEqual(rows.map(({ n }) => n), rows.map((_, i) => rows.length - i), 'numbers have no gaps');
  assert.ok(rows.every((row) => row.sessionId === sessionId));
  assert.equal(rows.at(-1).type, 'session_started', 'also what the Observer does not hear of');
  await until('every row came live', () => editor.of('log:row').length >= rows.length);
  assert.deepEqual(editor.of('log:row').slice(0, rows.length).map(({ payload }) => payload), [...rows].reverse(), 'the same rows, in order');
  assert.deepEqual(other.of('log:row'), [], 'nobody else is told');

  editor.send('log:follow', { follow: false });
  editor.send('editor:tab_switch', { toPath: 'last.ts' });
  await daemon.logged('tab_switch', 21);
  await ask(editor, 'log:page', {}, 'log:rows');
  assert.ok(!editor.of('log:row').some(({ payload }) => payload.data?.toPath === 'last.ts'), 'not followed any more');

  await refused(editor, [
    ['log:page', { limit: 501 }, 'payload.limit: expected an integer from 1 to 500, got 501'],
    ['log:page', { limit: 0 }, 'payload.limit: expected an integer from 1 to 500, got 0'],
    ['log:page', { before: 'x' }, 'payload.before: expected an integer'],
    ['log:page', { types: 'tab_switch' }, 'payload.types: expected an array of strings'],
    ['log:page', { types: ['tab_switch', 'nothing'] }, 'payload.types[1]: expected a type of the action log, not "nothing"'],
    ['log:page', { text: '' }, 'payload.text: must not be empty'],
    ['log:page', { text: 'x'.repeat(201) }, 'payload.text: expected at most 200 bytes, got 201'],
    ['log:follow', {}, 'payload.follow: expected a boolean'],
    ['log:follow', { follow: 1 }, 'payload.follow: expected a boolean'],
  ]);
  assert.equal((await ask(editor, 'log:page', { galaxy: 1, limit: 1 }, 'log:rows')).rows.length, 1, 'unknown fields are ignored');
});

scenario('100,000 rows: no page takes long', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  const sessionId = await begin(editor);
  await daemon.sql(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO action_log SELECT 'id' || i, '${sessionId}', 'selection', '{"path":"src/' || i || '.ts","textLength":1}', '2026-01-01T00:00:00.000Z' FROM n`);
  let before;
  let pages = 0;
  let longest = 0;
  const seen = [];
  do {
    const started = performance.now();
    const page = await ask(editor, 'log:page', { before, text: '7777', limit: 500 }, 'log:rows');
    longest = Math.max(longest, performance.now() - started);
    seen.push(...page.rows);
    before = page.next;
  } while (before && ++pages < 100);
  assert.equal(seen.length, 19, 'every row that fits, once');
  assert.ok(pages >= 10, `the log was looked at in ${pages + 1} pages`);
  assert.ok(longest < SECOND, `the longest page took ${longest} ms`);
});

scenario('the Observer tells what made it look, what it decided and why', async (t) => {
  const daemon = await t.daemon({ env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', LLM_MAX_RETRIES: '0', LLM_FLOW_RETRY_MS: '50', OBSERVER_FLOW_ACTIONS: '3' } });
  const editor = await t.editor(daemon);
  const other = await t.editor(daemon);
  assert.deepEqual(await ask(editor, 'observer:history', {}, 'observer:decisions'), { decisions: [] });
  const sessionId = await begin(editor);
  await editor.next('observer:status', { where: ({ active }) => active });
  editor.send('log:follow', { follow: true });
  editor.send('file:open', { path: 'README.md' });
  const { payload: failed } = await editor.next('observer:decision');
  assert.deepEqual([failed.trigger, failed.verdict, failed.signal, failed.confidence, failed.sessionId], ['file_open', 'failed', null, null, sessionId]);
  assert.ok(failed.reasoning.length > 0);
  for (let i = 0; i < 4; i++) editor.send('editor:tab_switch', { toPath: 'README.md' });
  editor.send('file:save', { path: 'README.md', content: 'new\n' });
  const { payload: flow } = await editor.next('observer:decision');
  assert.deepEqual([flow.trigger, flow.verdict], ['file_save', 'flow_state']);
  await ask(other, 'observer:history', {}, 'observer:decisions');
  assert.deepEqual(other.of('observer:decision'), [], 'to those that follow the log alone');
  const { decisions, next } = await ask(editor, 'observer:history', { limit: 1 }, 'observer:decisions');
  assert.deepEqual([decisions, next], [[flow], flow.n]);
  assert.deepEqual(await ask(editor, 'observer:history', { before: next }, 'observer:decisions'), { decisions: [failed] });
  await refused(editor, [
    ['observer:history', { limit: 257 }, 'payload.limit: expected an integer from 1 to 256, got 257'],
    ['observer:history', { before: {} }, 'payload.before: expected an integer'],
  ]);
});

scenario('of very many decisions the newest thousand are there, in pages, and the last page says how many are forgotten', async (t) => {
  const daemon = await t.daemon({ env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', LLM_MAX_RETRIES: '0', OBSERVER_FLOW_ACTIONS: '1' } });
  const editor = await t.editor(daemon);
  await begin(editor);
  await editor.next('observer:status', { where: ({ active }) => active });
  editor.send('log:follow', { follow: true });
  const live = () => editor.of('observer:decision');
  for (let i = 0; live().length < 1010; i += 1) {
    assert.ok(i < 40, `${live().length} decisions`);
    for (let j = 0; j < 50; j += 1) editor.send('file:save', { path: 'README.md', content: `${i} ${j}\n` });
    await until('the decisions', () => live().length >= Math.min(50 * i + 25, 1010));
  }
  // What was saved beyond that is decided, too.
  for (let before = 0; before < live().length; await sleep(1500)) before = live().length;
  const numbers = live().map(({ payload }) => payload.n).reverse();
  const found = [];
  let page = {};
  for (let pages = 0; pages === 0 || page.next; pages += 1) {
    assert.ok(pages < 5);
    assert.equal(page.forgotten, undefined, 'at the end alone');
    page = await ask(editor, 'observer:history', { limit: 250, ...(page.next && { before: page.next }) }, 'observer:decisions');
    found.push(...page.decisions.map(({ n }) => n));
  }
  assert.deepEqual(found, numbers.slice(0, 1000));
  assert.equal(page.forgotten, numbers.length - 1000);
});

scenario('a window sees all guard machines, follows them and reads their streams in pages', async (t) => {
  const daemon = await t.daemon();
  const [editor, other] = [await t.editor(daemon), await t.editor(daemon)];
  editor.send('guard:follow', { follow: true });
  assert.deepEqual(await ask(editor, 'guard:list', { kind: 'session-guard' }, 'guard:machines'), { kind: 'session-guard', instances: [] });
  const guard = await Guard.create(daemon, 'session-guard', 'one', { timeboxMs: 3600000, codingQuestion: 'Write a cache.' });
  const { payload: made } = await editor.next('guard:state');
  assert.deepEqual([made.kind, made.id, made.cursor, made.state], ['session-guard', 'one', 1, (await guard.get()).state], 'a machine that is new');
  const { instances } = await ask(editor, 'guard:list', { kind: 'session-guard' }, 'guard:machines');
  assert.deepEqual(instances.map(({ id }) => id), ['one']);

  other.send('guard:subscribe', { kind: 'session-guard', id: 'one' });
  await other.next('guard:state');
  editor.send('guard:subscribe', { kind: 'session-guard', id: 'one' });
  await editor.next('guard:state');
  const { cursor } = await guard.event({ type: 'question_asked', text: 'Tell me about a project.' });
  const at = ({ payload }) => payload.cursor === cursor;
  await editor.next('guard:state', { where: (payload) => payload.cursor === cursor });
  await other.next('guard:state', { where: (payload) => payload.cursor === cursor });
  assert.equal(editor.of('guard:state').filter(at).length, 1, 'who follows all and watches one is told once');

  const { events } = await ask(editor, 'guard:events', { kind: 'session-guard', id: 'one' }, 'guard:stream');
  assert.deepEqual(events.map(({ seq }) => seq), [...Array(cursor).keys()].map((i) => i + 1));
  assert.deepEqual(await ask(editor, 'guard:events', { kind: 'session-guard', id: 'one', since: 1 }, 'guard:stream'), { events: events.slice(1) });
  assert.deepEqual(await ask(editor, 'guard:events', { kind: 'session-guard', id: 'one', since: cursor }, 'guard:stream'), { events: [] });
  const replayed = await ask(editor, 'guard:replay', { kind: 'session-guard', id: 'one' }, 'guard:replayed');
  assert.deepEqual([replayed.ok, replayed.rows], [true, cursor]);
  editor.send('guard:events', { kind: 'session-guard', id: 'none' });
  assert.equal((await editor.next('connection:error')).payload.code, 'NOT_FOUND');
  await refused(editor, [
    ['guard:list', { kind: 'galaxy' }, 'payload.kind: expected session-guard, breakloop, interview or idle, got "galaxy"'],
    ['guard:events', { kind: 'idle', id: 'x', since: -1 }, 'payload.since: expected an integer not below 0, got -1'],
  ]);
});

scenario('cost comes by day, model and kind, with the budget', async (t) => {
  const daemon = await t.daemon({ env: { BUDGET_DAY_USD: '5' } });
  const editor = await t.editor(daemon);
  const none = { key: '', calls: 0, failures: 0, cancelled: 0, inputTokens: 0, outputTokens: 0, cost: 0, averageLatencyMs: null };
  const empty = await ask(editor, 'cost:request', {}, 'cost:totals');
  assert.deepEqual([empty.total, empty.days, empty.models, empty.kinds], [none, [], [], []]);
  assert.deepEqual(empty.budget, { day: 5, session: null, spentDay: 0, spentSession: 0 });
  const sessionId = await begin(editor);
  const day = (ago) => new Date(Date.now() - ago * 86400000).toISOString().slice(0, 10);
  const row = (id, session, kind, model, latency, cost, ago) => `('${id}', ${session}, '${kind}', '${model}', 'h', ${latency}, 10, 2, ${cost}, '${day(ago)}T00:00:01.000Z')`;
  await daemon.sql(`INSERT INTO api_call_log VALUES ${[
    row('a', `'${sessionId}'`, 'explain_this', 'small', 100, 0.5, 0),
    row('b', 'NULL', 'explain_this', 'big', 300, 2, 1),
    row('c', 'NULL', 'coach_agent', 'big', -1, 0, 1),
    row('d', 'NULL', 'coach_agent', 'big', -2, 0.25, 1),
    row('e', 'NULL', 'coach_agent', 'big', 100, 8, 40),
  ]}`);
  const { total, days, models, kinds, budget, since } = await ask(editor, 'cost:request', {}, 'cost:totals');
  assert.equal(since, `${day(29)}T00:00:00.000Z`);
  assert.deepEqual(total, { key: '', calls: 4, failures: 1, cancelled: 1, inputTokens: 40, outputTokens: 8, cost: 2.75, averageLatencyMs: 200 });
  assert.deepEqual(days.map(({ key, cost }) => [key, cost]), [[day(1), 2.25], [day(0), 0.5]]);
  assert.deepEqual(models.map(({ key, calls, cost }) => [key, calls, cost]), [['big', 3, 2.25], ['small', 1, 0.5]]);
  assert.deepEqual(kinds.map(({ key, calls, cost }) => [key, calls, cost]), [['explain_this', 2, 2.5], ['coach_agent', 2, 0.25]]);
  assert.deepEqual(budget, { day: 5, session: null, spentDay: 0.5, spentSession: 0.5 });
  assert.equal((await ask(editor, 'cost:request', { days: 1 }, 'cost:totals')).total.calls, 1);
  assert.equal((await ask(editor, 'cost:request', { days: 366 }, 'cost:totals')).total.calls, 5);
  await refused(editor, [['cost:request', { days: 367 }, 'payload.days: expected an integer from 1 to 366, got 367']]);

  await daemon.sql(`INSERT INTO api_call_log VALUES ${row('f', 'NULL', 'a_kind_of_call_with_a_long_name\u001b[31m', 'claude-of-some-kind-4-5-20251001', 61000, 123.4567, 2)}`);
  const page = await ask(editor, 'cost:request', {}, 'cost:totals');
  const json = await daemon.ctl('cost', '--json');
  assert.deepEqual(JSON.parse(json.stdout), page, 'the command shows what the page shows');
  for (const by of ['day', 'model', 'kind']) {
    const { code, stdout, stderr } = await daemon.ctl('cost', '--by', by);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Today +\$0\.5000 of \$5\.00$/m);
    assert.match(stdout, /^This session +\$0\.5000, no budget$/m);
    assert.match(stdout, /^Last 30 days +\$126\.2067 for 5 calls, 1 failed, 1 cancelled$/m);
    assert.ok(stdout.split('\n').every((text) => text.length <= 80), stdout);
    assert.ok(!stdout.includes('\u001b'), stdout);
    assert.equal(stdout.trim().split('\n').length, 5 + page[`${by}s`].length, stdout);
  }
  assert.match((await daemon.ctl('cost', '--by', 'kind')).stdout, /^explain_this +2 +0 +20 +4 +200 ms +\$2\.5000$/m);
  assert.match((await daemon.ctl('cost', '--days', '1')).stdout, /^Last day +\$0\.5000 for 1 calls/m);
  assert.match((await daemon.ctl('cost', '--by', 'hour')).stderr, /--by=hour: one of day, model, kind/);
  assert.match((await daemon.ctl('cost', '--days', '0')).stderr, /--days=0: a whole number from 1 to 366/);
  const http = async (query) => {
    const answer = await fetch(`${daemon.url}/cost${query}`);
    return [answer.status, (await answer.json()).error];
  };
  assert.deepEqual(await http('?days=x'), [400, 'days: expected a whole number, got "x"']);
  assert.equal((await http('?days=367'))[0], 400);
  assert.deepEqual(await http(''), [200, undefined]);
});

scenario('whoever runs the daemon sees its status and settings from a window and has workers restarted', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  const status = await ask(editor, 'status:request', {}, 'status:state');
  const told = JSON.parse((await daemon.ctl('status', '--json')).stdout);
  assert.deepEqual(Object.keys(status.daemon), Object.keys(told), 'the same as paigectl status');
  assert.deepEqual(status.daemon.workers.map(({ name, state, pid }) => [name, state, pid]), told.workers.map(({ name, state, pid }) => [name, state, pid]));
  assert.equal(status.bus.windows, 1);
  const { settings } = await ask(editor, 'settings:request', {}, 'settings:state');
  const setting = (name) => settings.find((one) => one.name === name);
  assert.deepEqual([setting('PROJECT_DIR').value, setting('PROJECT_DIR').source], [daemon.projectDir, 'environment']);
  assert.ok(!JSON.stringify(settings).includes('test-key'), 'secrets are masked');

  const before = daemon.worker('observer').pid;
  const restarted = await ask(editor, 'worker:restart', { worker: 'observer' }, 'worker:restarted');
  assert.equal(restarted.worker, 'observer');
  assert.notEqual(daemon.worker('observer').pid, before);
  await daemon.says('paiged', /restart asked for.*name=observer.*by="a window"/);
  await refused(editor, [
    ['worker:restart', {}, 'payload.worker: expected a string'],
    ['worker:restart', { worker: 'galaxy' }, `${EXPECTED_WORKER}, not "galaxy"`],
    ['worker:restart', { worker: 'paiged' }, `${EXPECTED_WORKER}, not "paiged"`],
  ]);
  editor.send('worker:restart', { worker: 'agent' });
  const { payload: absent } = await editor.next('connection:error');
  assert.deepEqual([absent.code, absent.message], ['NOT_ALLOWED', 'agent is not running: AGENT_COMMAND is not set']);

  const other = await t.editor(daemon);
  editor.send('status:follow', { follow: true });
  const first = await editor.next('status:state');
  const second = await editor.next('status:state');
  assert.ok(second.timestamp - first.timestamp >= 900, 'at most once a second');
  editor.send('status:follow', { follow: false });
  await ask(editor, 'status:request', {}, 'status:state');
  assert.deepEqual(other.of('status:state'), []);

  const many = Array.from({ length: 100 }, () => editor.send('status:request'));
  for (const _ of many) await editor.next(['status:state', 'connection:error'], { where: ({ code }) => !code || code === 'BUSY' || code === 'UNAVAILABLE' });
  assert.equal((await daemon.ctl('status')).code, 0, 'paigectl finds a place');

  editor.send('worker:restart', { worker: 'gateway' });
  await until('the window is back', () => editor.connections === 2);
  assert.equal((await ask(editor, 'status:request', {}, 'status:state')).daemon.workers[0].restarts.total, 1);
});

unless(cannot, scenario)('a user who is merely allowed to connect learns nothing of the daemon and restarts nothing', async (t) => {
  const daemon = await t.daemon({ env: { ALLOWED_USERS: 'nobody' } });
  const before = daemon.worker('observer').pid;
  for (const [type, payload] of [['status:request', {}], ['settings:request', {}], ['worker:log', { worker: 'store' }], ['doctor:request', {}], ['status:follow', { follow: true }], ['worker:restart', { worker: 'observer' }]]) {
    const nobody = await stranger(t, daemon, NOBODY);
    await nobody.connect(1);
    await nobody.send(`GET /ws HTTP/1.1\r\nHost: localhost:${daemon.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`);
    await nobody.frame(JSON.stringify({ type, payload, id: '1' }));
    const answer = await nobody.read();
    assert.match(answer, /101 Switching/);
    assert.match(answer, /"connection:error".*"NOT_ALLOWED".*Only the user that Paige runs as/, type);
    assert.ok(!answer.includes('projectDir') && !answer.includes('"status:state"'), answer);
  }
  assert.equal(daemon.worker('observer').pid, before);
});

scenario('the last lines of a log come by level, and nothing in them can disturb a screen', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  const file = path.join(daemon.dataDir, 'logs', 'store.log');
  const line = (level, n) => `ts=2026-01-01T00:00:00.000Z level=${level} worker=store msg="line ${n}"`;
  const lines = Array.from({ length: 5000 }, (_, i) => line(i % 100 ? 'info' : 'error', i));
  fs.appendFileSync(file, `${lines.join('\n')}\n`);
  const all = await ask(editor, 'worker:log', { worker: 'store', lines: 500 }, 'worker:log_lines');
  assert.deepEqual([all.worker, all.lines, all.missed], ['store', lines.slice(-500), false]);
  const errors = await ask(editor, 'worker:log', { worker: 'store', lines: 3, level: 'error' }, 'worker:log_lines');
  assert.deepEqual(errors.lines, [4700, 4800, 4900].map((n) => line('error', n)));
  fs.appendFileSync(file, Buffer.from(`${line('warn', 'x')}\x1b[31mred\x07\xff\u009bé\tend\n`.replace('\u009b', '\xc2\x9b').replace('é', '\xc3\xa9'), 'latin1'));
  const [last] = (await ask(editor, 'worker:log', { worker: 'store', lines: 1 }, 'worker:log_lines')).lines;
  assert.equal(last, `${line('warn', 'x')}?[31mred???é\tend`);
  fs.appendFileSync(file, `${line('warn', 'y')}\u202eevil\u2028\n`);
  assert.deepEqual((await ask(editor, 'worker:log', { worker: 'store', lines: 1 }, 'worker:log_lines')).lines, [`${line('warn', 'y')}?evil?`]);
  assert.equal((await ask(editor, 'worker:log', { worker: 'gateway' }, 'worker:log_lines')).worker, 'gateway');
  const own = await ask(editor, 'worker:log', { worker: 'paiged', lines: 500 }, 'worker:log_lines');
  assert.equal(own.worker, 'paiged');
  assert.match(own.lines.at(-1), / worker=paiged msg=/);
  assert.ok(own.lines.some((text) => text.includes('msg=ready') || text.includes('msg="ready"')), own.lines.join('\n'));
  await refused(editor, [
    ['worker:log', { worker: 'store', after: -1 }, 'payload.after: expected an integer not below 0, got -1'],
    ['worker:log', { worker: 'store', lines: 501 }, 'payload.lines: expected an integer from 1 to 500, got 501'],
    ['worker:log', { worker: 'store', level: 'loud' }, 'payload.level: expected debug, info, warn or error, got "loud"'],
    ['worker:log', { worker: '../../etc/passwd' }, `${EXPECTED_LOG}, not "../../etc/passwd"`],
  ]);
});

scenario('a log is followed across rotated files, and its older pages can be read', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  const file = path.join(daemon.dataDir, 'logs', 'observer.log');
  const line = (n) => `ts=2026-01-01T00:00:00.000Z level=info worker=observer msg="line ${n} ${'x'.repeat(60)}"`;
  const put = (from, to) => fs.appendFileSync(file, `${Array.from({ length: to - from }, (_, i) => line(from + i)).join('\n')}\n`);
  put(0, 3);
  const begun = await ask(editor, 'worker:log', { worker: 'observer', lines: 3 }, 'worker:log_lines');
  assert.deepEqual(begun.lines, [0, 1, 2].map(line));
  put(3, 10);
  const more = await ask(editor, 'worker:log', { worker: 'observer', lines: 500, after: begun.next }, 'worker:log_lines');
  assert.deepEqual([more.lines, more.missed], [Array.from({ length: 7 }, (_, i) => line(3 + i)), false]);
  assert.deepEqual((await ask(editor, 'worker:log', { worker: 'observer', after: more.next }, 'worker:log_lines')).lines, []);

  // Full, so that the next line that the worker writes has the supervisor begin a new file.
  const fill = (10 * 1024 * 1024 - fs.statSync(file).size) / (line(0).length + 1);
  put(10, 10 + Math.floor(fill));
  await sleep(6000); // the supervisor looks every five seconds how long it is
  const before = await ask(editor, 'worker:log', { worker: 'observer', lines: 2 }, 'worker:log_lines');
  await ask(editor, 'worker:restart', { worker: 'observer' }, 'worker:restarted');
  assert.ok(fs.existsSync(`${file}.1`), 'it was rotated');
  const after = await ask(editor, 'worker:log', { worker: 'observer', lines: 500, after: before.next }, 'worker:log_lines');
  assert.equal(after.missed, false);
  assert.match(after.lines.join('\n'), /worker=observer/);
  assert.deepEqual(after.lines.filter((text) => text.includes('msg="line')), [], 'none comes twice');
  const older = await ask(editor, 'worker:log', { worker: 'observer', lines: 5, before: before.first }, 'worker:log_lines');
  const last = 10 + Math.floor(fill) - 2;
  assert.deepEqual(older.lines, [5, 4, 3, 2, 1].map((n) => line(last - n)));
});

scenario('doctor tells a window what paigectl doctor finds', async (t) => {
  const daemon = await t.daemon();
  const [editor, other] = [await t.editor(daemon), await t.editor(daemon)];
  const both = await Promise.all([editor, other].map((window) => ask(window, 'doctor:request', {}, 'doctor:report')));
  const { stdout, code } = await daemon.ctl('doctor', '--json');
  const { findings } = JSON.parse(stdout);
  const shown = (list) => list.filter(({ what }) => what !== 'disk').map(({ grade, what, text }) => [grade, what, text]);
  for (const report of both) assert.deepEqual(shown(report.findings), shown(findings));
  assert.deepEqual(findings.filter(({ what }) => what === 'http').map(({ grade, text }) => [grade, text]), [['fine', `http://localhost:${daemon.port} answers: ready`]]);
  assert.equal(code, findings.some(({ grade }) => grade === 'wrong') ? 1 : 0);
  const plain = await daemon.ctl('doctor');
  for (const { what, text } of findings.filter(({ what }) => what !== 'disk')) assert.ok(plain.stdout.includes(`${what.padEnd(12)} ${text}`), text);
});

scenario('what the learner did comes by day', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  assert.deepEqual((await ask(editor, 'progress:request', {}, 'progress:days')).days, []);
  await begin(editor);
  editor.send('session:end');
  await editor.next('session:ended');
  const today = new Date().toISOString().slice(0, 10);
  const day = (ago) => new Date(Date.now() - ago * 86400000).toISOString().slice(0, 10);
  await daemon.sql("DELETE FROM action_log");
  await daemon.sql(`UPDATE sessions SET started_at = '${day(2)}T10:00:00.000Z', ended_at = '${day(2)}T10:30:00.000Z'`);
  const [{ id }] = await daemon.sql('SELECT id FROM sessions');
  const columns = (await daemon.sql("SELECT name FROM pragma_table_info('sessions')")).map(({ name }) => name);
  const copy = (name, started) => daemon.sql(`INSERT INTO sessions (${columns}) SELECT ${columns.map((column) => ({ id: `'${name}'`, started_at: `'${started}'`, ended_at: 'NULL' })[column] ?? column)} FROM sessions WHERE id = '${id}'`);
  await copy('open', `${day(1)}T23:00:00.000Z`);
  await copy('old', `${day(50)}T23:00:00.000Z`);
  const row = (session, at) => `(hex(randomblob(16)), '${session}', 'tab_switch', '{}', '${at}')`;
  await daemon.sql(`INSERT INTO action_log (id, session_id, action_type, data, created_at) VALUES ${[row(id, `${day(2)}T10:10:00.000Z`), row('open', `${day(1)}T23:10:00.000Z`), row('open', `${today}T00:00:00.000Z`), row('old', `${day(50)}T23:10:00.000Z`)]}`);
  const { since, days } = await ask(editor, 'progress:request', {}, 'progress:days');
  assert.equal(since, `${day(29)}T00:00:00.000Z`);
  assert.deepEqual(days.map((one) => ({ ...one, minutes: Math.round(one.minutes) })), [
    { day: day(2), actions: 1, sessions: 1, minutes: 30 },
    { day: day(1), actions: 1, sessions: 1, minutes: 60 },
    { day: today, actions: 1, sessions: 0, minutes: 0 },
  ]);
  assert.equal((await ask(editor, 'progress:request', { days: 366 }, 'progress:days')).days.length, 4);
  await refused(editor, [['progress:request', { days: 0 }, 'payload.days: expected an integer from 1 to 366, got 0']]);
});

scenario('what the supervisor refuses keeps its code and its text', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  const file = path.join(daemon.dataDir, 'paige.db');
  fs.renameSync(file, `${file}-away`);
  fs.mkdirSync(file);
  editor.send('worker:restart', { worker: 'store' });
  const { payload } = await editor.next('connection:error');
  assert.equal(payload.code, 'UNAVAILABLE');
  assert.match(payload.message, /^store is parked: /);
});
