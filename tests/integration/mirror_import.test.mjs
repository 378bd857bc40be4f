// mirror_import.test.mjs - paigectl import --from-mirror: a learner comes to a new machine from a real PostgreSQL, the mirror goes on
// without a row twice, and whatever cannot be used or breaks off leaves DATA_DIR as it was.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { coached, tabs } from './lib/database.mjs';
import { contents, ctl, PAIGECTL, sqlite } from './lib/data.mjs';
import { Guard } from './lib/guard.mjs';
import { arrived, fill, server, there, WITHOUT_MIRROR } from './lib/mirror.mjs';
import { alive, children, descendants, signal } from './lib/processes.mjs';
import { sideBySide, unless } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const ROWS = 30000;
const scenario = unless(WITHOUT_MIRROR, sideBySide);

const TABLES = {
  sessions: 'rowid, id, issue_number, issue_title, status, started_at, ended_at',
  plans: 'id, session_id, created_at',
  phases: 'rowid, id, plan_id, number, title, status, started_at, completed_at',
  dreyfus_assessments: 'rowid, id, skill_area, stage, confidence, assessed_at',
  action_log: "rowid, id, session_id, action_type, created_at, iif(action_type = 'hint_level_change', data ->> '$.level', NULL), iif(action_type = 'phase_started', data ->> '$.phaseNumber', NULL), iif(action_type = 'nudge_sent', data ->> '$.signal', NULL)",
  api_call_log: 'rowid, id, session_id, call_type, model, latency_ms, input_tokens, output_tokens, cost_estimate, created_at, status',
};
/** What PostgreSQL has of a database, as text. */
const mirrored = (dataDir) => Object.entries(TABLES).map(([table, columns]) => `${table}\n${sqlite(path.join(dataDir, 'paige.db'), `SELECT ${columns} FROM ${table} ORDER BY id`)}`).join('\n');

/** Rows of every kind, among them what a text and a number can be. */
const EVERYTHING = `
  INSERT INTO plans SELECT 'p', id, 'the plan', '2026-01-01T00:00:00.000Z' FROM sessions;
  INSERT INTO phases VALUES ('f1', 'p', 1, 'Read "it" \\ Тест 🦊', 'd', 'complete', 'line', '["secret.c"]', '2026-01-01T00:00:00.001Z', '2026-01-01T01:00:00.999Z');
  INSERT INTO phases VALUES ('f2', 'p', 2, '', 'd', 'active', 'file', '[]', '2026-01-01T01:00:00.000Z', NULL);
  INSERT INTO dreyfus_assessments VALUES ('d1', 'c', 'novice', 0.1, 'e', '2026-01-01T00:00:00.000Z');
  INSERT INTO dreyfus_assessments VALUES ('d2', 'sql', 'expert', 1, 'e', '2026-01-01T00:00:00.000Z');
  INSERT INTO action_log SELECT 'a1', id, 'phase_started', '{"phaseId":"f1","phaseNumber":1,"title":"t"}', '2026-01-01T00:00:00.000Z' FROM sessions;
  INSERT INTO action_log SELECT 'a2', id, 'hint_level_change', '{"level":2}', '2026-01-01T00:00:00.000Z' FROM sessions;
  INSERT INTO action_log SELECT 'a3', id, 'nudge_sent', '{"signal":"idle","confidence":0.5}', '2025-01-01T00:00:00.000Z' FROM sessions;
  INSERT INTO api_call_log SELECT 'c1', id, 'triage', 'm', 'h', 1234, 10, 20, 0.1234567890123, '2026-01-01T00:00:00.000Z' FROM sessions;
  INSERT INTO api_call_log VALUES ('c2', NULL, 'explain_this', 'm', 'h', -1, 0, 0, 0, '2026-01-01T00:00:00.000Z');
  INSERT INTO api_call_log VALUES ('c3', NULL, 'explain_this', 'm', 'h', -2, 5, 0, 1e-7, '2026-01-01T00:00:00.000Z');
  SELECT 1 AS x`;

/** A learner whose rows are in PostgreSQL, and whose daemon has stopped. */
async function gone(t, postgres, more = EVERYTHING) {
  const { daemon, editor } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
  tabs(editor, 0, 30);
  await daemon.logged('tab_switch', 30);
  await daemon.sql(more);
  await Guard.create(daemon, 'idle', 'machine-1');
  await daemon.ctl('mirror', 'allow');
  await arrived(daemon, postgres);
  await editor.close();
  await daemon.stop();
  return daemon;
}

/** A transaction that keeps all others from the calls to Claude, which are read last. */
async function locked(postgres) {
  const over = postgres.sql("BEGIN; LOCK TABLE paige.api_calls IN ACCESS EXCLUSIVE MODE; SELECT 'holds' FROM pg_sleep(100)").catch(() => {});
  const is = (what) => postgres.sql(`SELECT pid FROM pg_stat_activity WHERE ${what}`);
  await until('the lock is held', async () => (await is("query LIKE 'BEGIN; LOCK%' AND wait_event = 'PgSleep'")).length === 1);
  return {
    reached: () => until('the import waits for the lock', async () => (await is("usename = 'ada' AND wait_event_type = 'Lock'")).length === 1),
    release: async () => {
      await postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'");
      await over;
    },
  };
}

scenario('a learner comes to a new machine, and the mirror goes on there without a row twice', async (t) => {
  const postgres = await server(t);
  const old = await gone(t, postgres);
  await postgres.sql("INSERT INTO paige.sessions VALUES ('eve', gen_random_uuid(), 7, 'of somebody else', NULL, NULL, 'active', now(), NULL)");
  const dataDir = t.directory('new');
  fs.rmdirSync(dataDir);
  const came = await ctl(old, dataDir, 'import', '--from-mirror');
  assert.equal(came.code, 0, came.error);
  assert.match(came.out, /^What PostgreSQL has of the learner is in place in \S+, every page checked\n\d+ actions, 3 calls to Claude, 1 sessions, 2 phases, 2 assessments\. PostgreSQL never had files/);
  assert.equal(mirrored(dataDir), mirrored(old.dataDir));
  assert.equal(sqlite(path.join(dataDir, 'paige.db'), 'SELECT DISTINCT project_dir FROM sessions'), old.projectDir);
  assert.deepEqual(fs.readdirSync(dataDir).filter((name) => /replace|mirror|guard|rows/.test(name)), []);

  const daemon = await t.daemon({ dataDir, projectDir: old.projectDir, env: { MIRROR_URL: postgres.url('ada') } });
  const editor = await t.editor(daemon);
  assert.match((await daemon.ctl('mirror')).stdout, /^Never allowed/, 'another machine is asked anew');
  assert.match((await daemon.ctl('cost', '--days', '366')).stdout, /triage|2026-01-01/);
  tabs(editor, 30, 60);
  await Guard.create(daemon, 'idle', 'machine-2');
  await daemon.ctl('mirror', 'allow');
  await until('the new rows are there', async () => Number((await postgres.sql("SELECT count(*) FROM paige.actions WHERE learner = 'ada' AND type = 'tab_switch'"))[0][0]) === 60, { every: 100 });
  await arrived(daemon, postgres, ['actions', 'api_calls', 'phases']);
  assert.equal((await postgres.sql("SELECT count(*) FROM paige.sessions WHERE learner = 'ada'"))[0][0], '1');
  assert.equal((await postgres.sql('SELECT DISTINCT origin FROM paige.actions')).length, 2);
  assert.equal((await postgres.sql("SELECT count(DISTINCT machine) FROM paige.guard_events WHERE learner = 'ada'"))[0][0], '2');
});

scenario('rows of two origins, after a backup was put back, come each once and in order; what lacks its session is told', async (t) => {
  const postgres = await server(t);
  const old = await gone(t, postgres);
  const [[origin]] = await postgres.sql('SELECT DISTINCT origin FROM paige.actions');
  const [[last]] = await postgres.sql('SELECT max(number) FROM paige.actions');
  const other = 'aaaaaaaa-0000-4000-8000-000000000000';
  // Its clock was an hour behind.
  await postgres.sql(`INSERT INTO paige.positions (learner, origin, source, number, id) VALUES ('ada', '${other}', 'actions', ${Number(last) + 1}, 'later-3');
    INSERT INTO paige.actions SELECT 'ada', '${other}', ${last} - 2 + i, 'later-' || i, s.id, 'tab_switch', timestamptz '2020-01-01', NULL, NULL, NULL FROM paige.sessions AS s, generate_series(1, 3) AS i;
    INSERT INTO paige.actions SELECT 'ada', '${origin}', 1000 + i, 'lost-' || i, 'no session', 'tab_switch', now(), NULL, NULL, NULL FROM generate_series(1, 2) AS i`);
  const dataDir = t.directory('new');
  const { code, out, error } = await ctl(old, dataDir, 'import', '--from-mirror');
  assert.equal(code, 0, error);
  assert.match(out, /; 2 rows were left out, since PostgreSQL does not have their session\./);
  const database = path.join(dataDir, 'paige.db');
  assert.equal(sqlite(database, "SELECT group_concat(id || '=' || rowid) FROM (SELECT id, rowid FROM action_log ORDER BY rowid DESC LIMIT 3)"), [3, 2, 1].map((i) => `later-${i}=${Number(last) + i}`).join());
  assert.equal(sqlite(database, `SELECT count(*) FROM action_log WHERE rowid <= ${last}`), last);
});

scenario('what stands in the way is told with what to do, and nothing changes', async (t) => {
  const postgres = await server(t, ['ada', 'bob']);
  await postgres.sql('CREATE ROLE eve LOGIN');
  const old = await gone(t, postgres);
  const before = contents(old.dataDir);
  const empty = t.directory('empty');
  const refused = async (why, { env = {}, args = ['import', '--from-mirror'], dataDir = empty, code = 1 } = {}) => {
    const answer = await ctl({ ...old, env: { ...old.env, ...env } }, dataDir, ...args);
    assert.equal(answer.code, code, answer.out);
    assert.match(answer.error, why);
    assert.deepEqual(contents(empty), {});
    assert.deepEqual(contents(old.dataDir), before);
  };
  const url = (MIRROR_URL) => ({ env: { MIRROR_URL } });
  await refused(/has a learner already \(paige\.db\); use --replace/, { dataDir: old.dataDir });
  await refused(/MIRROR_URL is not set: put the database of PostgreSQL there first/, url(''));
  await refused(/MIRROR_URL cannot be used: it must begin with postgresql:/, url('mysql://h/d'));
  await refused(/import needs a FILE or --from-mirror, not both/, { args: ['import', 'a-file', '--from-mirror'], code: 2 });
  await refused(/import needs the name of a FILE/, { args: ['import'], code: 2 });
  await refused(/permission denied.* must be a member of paige_learner/, url(postgres.url('eve')));
  await refused(/PostgreSQL has no rows of this learner\. The name of the role/, url(postgres.url('bob')));
  await refused(/PostgreSQL refuses: relation "paige.schema_version" does not exist/, url(postgres.url().replace(/class$/, 'postgres')));
  for (const [change, back, why] of [
    ['UPDATE paige.schema_version SET version = 2', 'UPDATE paige.schema_version SET version = 1', /has another version than 1, which this Paige knows/],
    ["UPDATE paige.sessions SET status = 'asleep'", "UPDATE paige.sessions SET status = 'active'", /cannot be used: sessions\.status: expected active, completed or abandoned, got "asleep"/],
    ["UPDATE paige.phases SET title = repeat('x', 70000) WHERE id = 'f2'", "UPDATE paige.phases SET title = '' WHERE id = 'f2'", /cannot be used: phases\.title: /],
    ["UPDATE paige.phases SET title = repeat('x', 2000000) WHERE id = 'f2'", "UPDATE paige.phases SET title = '' WHERE id = 'f2'", /A row of PostgreSQL is longer than any that Paige sends/],
    ["UPDATE paige.assessments SET id = 'd1', assessed_at = assessed_at + interval '1 s' WHERE skill = 'sql'", "UPDATE paige.assessments SET id = 'd2', assessed_at = assessed_at - interval '1 s' WHERE skill = 'sql'", /cannot be used: UNIQUE constraint failed: dreyfus_assessments\.id/],
  ]) {
    await postgres.sql(change);
    await refused(why);
    await postgres.sql(back);
  }
  await postgres.stop();
  await refused(/PostgreSQL cannot be reached: /);
  await postgres.start();
  const running = await t.daemon({ dataDir: empty, projectDir: old.projectDir });
  assert.match((await ctl(old, empty, 'import', '--from-mirror', '--replace')).error, new RegExp(`the daemon \\(process ${running.pid}\\) uses`));
  await t.release(running);
  const done = await ctl(old, empty, 'import', '--from-mirror', '--replace', '--json');
  assert.equal(done.code, 0, done.error);
  assert.ok(fs.existsSync(path.join(JSON.parse(done.out).kept, 'paige.db')), 'what was there is kept');
  assert.equal(mirrored(empty), mirrored(old.dataDir));
});

scenario(`broken off with ${ROWS} rows under way, by whatever dies, it leaves the old state and takes little memory; the next one completes`, async (t) => {
  const postgres = await server(t);
  const { daemon: old, editor } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
  await fill(old, 1, ROWS);
  await old.ctl('mirror', 'allow');
  await arrived(old, postgres);
  await editor.close();
  await old.stop();
  const dataDir = t.directory('new');
  const first = await t.daemon({ dataDir, projectDir: old.projectDir });
  await t.release(first);
  const before = contents(dataDir);
  for (const victim of ['paigectl', 'paige-mirror', 'paige-archive', 'postgres']) {
    const lock = await locked(postgres);
    const child = spawn(PAIGECTL, ['import', '--from-mirror', '--replace'], { env: { ...old.env, DATA_DIR: dataDir }, cwd: old.root, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (text) => (said += text));
    const ended = new Promise((resolve) => child.once('close', resolve));
    await lock.reached();
    const family = descendants(child.pid);
    for (const { pid, name } of children(child.pid)) {
      const [, peak] = fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmHWM:\s+(\d+) kB/);
      // A sanitizer keeps what is freed.
      const sanitized = fs.readFileSync(`/proc/${pid}/maps`, 'utf8').includes('/libasan.');
      assert.ok(sanitized || Number(peak) < 48 * 1024, `${name} has taken ${peak} kB`);
    }
    if (victim === 'postgres') await postgres.kill9();
    else if (victim === 'paigectl') child.kill('SIGKILL');
    else assert.ok(signal(family.find(({ name }) => name === victim), 'SIGKILL'));
    if (victim === 'postgres') await postgres.start();
    else await lock.release();
    const code = await ended;
    if (victim !== 'paigectl') assert.equal(code, 1, `${victim}: ${said}`);
    if (victim === 'paige-mirror') assert.match(said, /What PostgreSQL has cannot be used: it broke off/);
    if (victim === 'paige-archive') assert.match(said, /paige-archive ended unexpectedly/);
    if (victim === 'postgres') assert.match(said, /PostgreSQL (cannot be reached|refuses): /);
    await until('nobody is left', () => !family.some(alive));
    assert.deepEqual(contents(dataDir), before, victim);
  }
  const began = performance.now();
  const done = await ctl(old, dataDir, 'import', '--from-mirror', '--replace');
  assert.equal(done.code, 0, done.error);
  console.log(`  ${ROWS} rows came in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  assert.equal(mirrored(dataDir), mirrored(old.dataDir));
  assert.equal(sqlite(path.join(dataDir, 'paige.db'), "SELECT max(rowid) FROM action_log"), (await there(postgres, 'actions')).split('\n').at(-1).split(' ')[0]);
});
