// mirror_faults.test.mjs - a real PostgreSQL that is full, that somebody edits, that has too few connections; clocks that differ; a
// learner who is renamed. Whatever it was, afterwards every row is there once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { clearClocks, clock, WITHOUT_FAKETIME } from './lib/clock.mjs';
import { coached, tabs } from './lib/database.mjs';
import { Guard } from './lib/guard.mjs';
import { arrived, fill, here, MIRROR, server, there, WITHOUT_MIRROR } from './lib/mirror.mjs';
import { Postgres } from './lib/postgres.mjs';
import { smallProject } from './lib/project.mjs';
import { sideBySide, unless } from './lib/scenario.mjs';
import { trojan } from './lib/trojan.mjs';
import { until } from './lib/wait.mjs';

const QUICK = Boolean(process.env.PAIGE_QUICK);
const MANY = QUICK ? 6 : 20;
const scenario = unless(WITHOUT_MIRROR, sideBySide);

const says = async (daemon) => (await daemon.ctl('mirror')).stdout;
const count = async (postgres, what) => Number((await postgres.sql(`SELECT count(*) FROM paige.${what}`))[0][0]);
const onceEach = async (postgres) => assert.deepEqual(await postgres.sql('SELECT id FROM paige.actions GROUP BY learner, id HAVING count(*) > 1'), []);

/** A learner who has agreed, and so many rows that are in PostgreSQL. */
async function mirrored(t, rows) {
  const postgres = await server(t);
  const { daemon, editor } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
  await daemon.ctl('mirror', 'allow');
  tabs(editor, 0, rows);
  await daemon.logged('tab_switch', rows);
  await arrived(daemon, postgres);
  return { postgres, daemon, editor };
}

scenario('PostgreSQL is out of disk: the mirror says so and tries again, and once there is room every row is there', async (t) => {
  const small = t.directory('small');
  const postgres = t.closeLater(await Postgres.make(t.directory('pg')));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=700,uid=65534,gid=65534', 'tmpfs', small], { stdio: 'ignore' });
  } catch {
    return t.skip('needs to mount a small file system');
  }
  try {
    await postgres.sql(`CREATE TABLESPACE small LOCATION '${small}'`);
    await postgres.sql('ALTER DATABASE class SET default_tablespace = small');
    await postgres.prepare(MIRROR, ['ada']);
    const { daemon, editor } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
    await fill(daemon, 1, 60000);
    await daemon.ctl('mirror', 'allow');
    const said = await until('it is full', async () => (await says(daemon)).match(/PostgreSQL refuses: could not extend file .*No space left on device.*/)?.[0], { ms: 60000 });
    assert.match(said, /\(53100\)$/);
    assert.equal((await daemon.get('/health')).json.status, 'degraded');
    const full = await count(postgres, 'actions');
    assert.ok(full > 0 && full < 60000, `${full} rows fit`);
    tabs(editor, 0, 5);
    await daemon.logged('tab_switch', 60005); // the learner works on
    const failures = async () => Number((await daemon.get('/metrics')).text.match(/^paige_mirror_failures_total (\d+)$/m)[1]);
    await until('it tries again', async () => (await failures()) >= 3, { ms: 30000, every: 500 });
    assert.ok(await failures() < 12, 'after pauses');
    execFileSync('mount', ['-o', 'remount,size=512m', small]);
    await arrived(daemon, postgres, ['actions', 'sessions'], 120000);
    await until('all is well', async () => /caught up/.test(await says(daemon)));
  } finally {
    postgres.close();
    execFileSync('umount', ['-l', small]);
  }
});

scenario('clocks that are hours apart or jump change neither the order nor how often a row is there', async (t) => {
  const { postgres, daemon, editor } = await mirrored(t, 10);
  // Behind by an hour, far ahead, back again; each batch is carried before the next one comes.
  for (const [from, shift] of [[1000, '-1 hour'], [2000, '+30 years'], [3000, '-1 hour'], [4000, '-30 years']]) {
    await daemon.sql(`WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${from} + 99) INSERT INTO action_log (id, session_id, action_type, data, created_at) SELECT 'row-' || i, (SELECT id FROM sessions), 'tab_switch', NULL, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '${shift}') FROM n; SELECT 1 AS x`);
    await arrived(daemon, postgres, ['actions']);
    await daemon.kill9('mirror');
  }
  tabs(editor, 10, 20);
  await until('the last rows', async () => (await count(postgres, 'actions')) >= 420 + 1, { every: 100 });
  await arrived(daemon, postgres);
  await onceEach(postgres);
  assert.equal((await postgres.sql('SELECT DISTINCT origin FROM paige.actions')).length, 1);
});

const skewed = WITHOUT_FAKETIME ? () => console.log(`  (left out: ${WITHOUT_FAKETIME})`) : scenario;

skewed("the clocks of PostgreSQL and of the learner's machine differ by an hour: no row is lost or doubled, and every time is the learner's", async (t) => {
  const postgres = await server(t);
  const projectDir = t.keep(smallProject()), dataDir = t.directory('data');
  const iso = (column) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const seconds = async (what) => Number((await postgres.sql(`SELECT extract(epoch FROM ${what}) FROM paige.stuck`))[0]?.[0] ?? NaN);
  const HOUR = 3600;
  let number = 0;
  clearClocks(); // of a run that failed
  // Each is another life of both: a machine's clock is put right, or wrong, while neither runs.
  for (const hours of [{ server: 1, daemon: 0 }, { server: -1, daemon: 0 }, { server: 0, daemon: 1 }, { server: 0, daemon: -1 }, { server: 1, daemon: -1 }, { server: 0, daemon: 0 }]) {
    const where = `PostgreSQL ${hours.server} h, daemon ${hours.daemon} h`;
    const env = (ahead) => (ahead ? clock(`${ahead > 0 ? '+' : ''}${ahead}h`) : {});
    await postgres.startAnew({ env: env(hours.server) });
    // The supervisor passes LD_PRELOAD on to few of its workers.
    const paiged = trojan(t.directory('clock'), (name, program) => [...Object.entries(env(hours.daemon)).map(([key, value]) => `export ${key}=${value}`), `exec ${program} "$@"`]);
    const daemon = await t.daemon({ projectDir, dataDir, paiged, env: { MIRROR_URL: postgres.url('ada'), ...env(hours.daemon) } });
    const editor = await t.editor(daemon);
    const off = async (clockOf) => Math.round((Date.parse(clockOf) - Date.now()) / 1000 / HOUR) + 0; // no -0
    assert.equal(await off((await postgres.sql(`SELECT ${iso('now()')}`))[0][0]), hours.server, where);
    await editor.ask('session:start', { issueNumber: 1 }, 'session:started');
    await daemon.ctl('mirror', 'allow');
    tabs(editor, number, number + 20);
    await daemon.logged('tab_switch', (number += 20));
    await Guard.create(daemon, 'idle', `machine-${number}`);
    const [{ at }] = await daemon.sql('SELECT created_at AS at FROM action_log ORDER BY rowid DESC LIMIT 1');
    assert.equal(await off(at), hours.daemon, where);
    await daemon.sql(`DELETE FROM phases; DELETE FROM plans; INSERT INTO plans SELECT 'p${number}', id, 't', '${at}' FROM sessions WHERE status = 'active'; INSERT INTO phases VALUES ('f${number}', 'p${number}', 1, 'Read it', 'd', 'active', 'medium', '[]', '${at}', NULL); SELECT 1 AS x`);
    await daemon.sql(`INSERT INTO api_call_log (id, call_type, model, input_hash, latency_ms, input_tokens, output_tokens, cost_estimate, created_at) VALUES ('c${number}', 'triage', 'm', 'h', 1, 1, 1, 0.5, '${at}'); SELECT 1 AS x`);
    await daemon.kill9('mirror'); // the next one looks at once at what changes
    await arrived(daemon, postgres, ['actions', 'api_calls', 'guard_events', 'sessions']);
    await until('the phase', async () => (await count(postgres, `phases WHERE id = 'f${number}'`)) === 1, { every: 200 });

    // What the views say, as docs/mirror.md has it.
    assert.deepEqual(await postgres.sql(`SELECT ${iso('last_action_at')} FROM paige.stuck`), [[at]], where);
    assert.equal(Math.round((await seconds('lasts')) / HOUR) + 0, hours.server - hours.daemon, where);
    const days = await daemon.sql('SELECT substr(created_at, 1, 10) AS day, count(*) AS calls FROM api_call_log GROUP BY 1 ORDER BY 1');
    assert.deepEqual(await postgres.sql('SELECT day, calls FROM paige.costs'), days.map(({ day, calls }) => [day, `${calls}`]), where);
    await t.release(daemon, editor);
    const times = await daemon.sql('SELECT id, created_at AS at FROM action_log ORDER BY rowid');
    assert.deepEqual(await postgres.sql(`SELECT id, ${iso('at')} FROM paige.actions ORDER BY number`), times.map(({ id, at: time }) => [id, time]), where);
  }
  clearClocks();
  await onceEach(postgres);
  assert.equal((await postgres.sql('SELECT DISTINCT origin FROM paige.actions')).length, 1);
});

scenario('somebody has locked a table: PostgreSQL ends the statements that wait, the mirror says why, and no connection is left over', async (t) => {
  const { postgres, daemon, editor } = await mirrored(t, 10);
  const connections = "FROM pg_stat_activity WHERE usename = 'ada'";
  const holds = postgres.sql('BEGIN; LOCK TABLE paige.actions IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(3600)').catch(() => {});
  await until('the lock', async () => (await postgres.sql("SELECT 1 FROM pg_locks WHERE relation = 'paige.actions'::regclass AND mode = 'AccessExclusiveLock'")).length, { every: 100 });
  tabs(editor, 10, 20);
  const said = await until('it is locked', async () => (await says(daemon)).match(/PostgreSQL refuses: canceling statement due to lock timeout\. .*/)?.[0], { ms: 120000, every: 500 });
  assert.match(said, /Somebody there has locked what the mirror needs/);
  // What gave up has ended there, too; a later attempt may be under way.
  await until('the next attempt waits', async () => (await postgres.sql(`SELECT 1 ${connections} AND wait_event_type = 'Lock'`)).length, { every: 100 });
  assert.equal((await postgres.sql(`SELECT pid ${connections}`)).length, 1);
  await postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'owner' AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()");
  await holds;
  await daemon.logged('tab_switch', 20);
  await arrived(daemon, postgres);
  await onceEach(postgres);
});

scenario('a learner who is renamed as the documentation says goes on under the new name', async (t) => {
  const { postgres, daemon, editor } = await mirrored(t, 30);
  const { dataDir, projectDir } = daemon;
  await t.release(daemon, editor);
  const tables = ['positions', 'actions', 'api_calls', 'guard_events', 'sessions', 'phases', 'assessments'];
  await postgres.sql(`ALTER ROLE ada RENAME TO augusta; ${tables.map((table) => `UPDATE paige.${table} SET learner = 'augusta' WHERE learner = 'ada'`).join('; ')}`);
  const again = await t.daemon({ dataDir, projectDir, env: { MIRROR_URL: postgres.url('augusta') } });
  tabs(await t.editor(again), 30, 60);
  await again.logged('tab_switch', 60);
  await arrived(again, postgres);
  assert.deepEqual(await postgres.sql('SELECT DISTINCT learner FROM paige.actions'), [['augusta']]);
  assert.equal((await postgres.sql('SELECT DISTINCT origin FROM paige.actions')).length, 1);
  await onceEach(postgres);
});

scenario('somebody edits PostgreSQL: rows of logs are left as they made them, what changes comes back, and without positions all is sent again', async (t) => {
  const { postgres, daemon, editor } = await mirrored(t, 30);
  await postgres.sql("DELETE FROM paige.actions WHERE number = 5; UPDATE paige.actions SET type = 'edited' WHERE number = 6; UPDATE paige.sessions SET issue_title = 'edited'");
  tabs(editor, 30, 40);
  await until('the session as it is', async () => (await postgres.sql("SELECT issue_title FROM paige.sessions WHERE issue_title = 'edited'")).length === 0, { every: 200 });
  await until('the new rows', async () => (await count(postgres, "actions WHERE type = 'tab_switch'")) >= 38, { every: 100 });
  assert.deepEqual(await postgres.sql('SELECT number, type FROM paige.actions WHERE number IN (5, 6)'), [['6', 'edited']]);

  await postgres.sql("DELETE FROM paige.positions; DELETE FROM paige.actions WHERE type = 'edited'");
  await daemon.kill9('mirror'); // it has a copy of the positions
  await arrived(daemon, postgres);
  assert.equal((await postgres.sql('SELECT DISTINCT origin FROM paige.actions')).length, 1);

  // A position that is not of this database: nothing is skipped.
  await postgres.sql("UPDATE paige.positions SET number = number + 1000, id = 'x' WHERE source = 'actions'");
  await daemon.kill9('mirror');
  tabs(editor, 40, 50);
  await daemon.logged('tab_switch', 50);
  await until('the rows behind it', async () => (await here(daemon, 'actions')) === (await there(postgres, 'actions')), { every: 200 });
  await daemon.says('mirror', /goes on by another origin/);
  await onceEach(postgres);
});

scenario(`${MANY} daemons start at once on an empty server that has too few connections, and then enough`, async (t) => {
  const postgres = t.closeLater(await Postgres.make(t.directory('pg')));
  const names = Array.from({ length: MANY }, (_, i) => `learner${i}`);
  await postgres.sql(`CREATE ROLE paige_learner; CREATE ROLE paige_teacher; ${names.map((name) => `CREATE ROLE ${name} LOGIN; GRANT paige_learner TO ${name}; GRANT CREATE ON DATABASE class TO ${name}`).join('; ')}`);
  const limit = (connections) => postgres.startAnew({ settings: [`max_connections = ${connections}`] });
  await limit(Math.ceil(MANY / 2) + 3); // 3 are the owner's
  const daemons = [];
  for (const name of names) daemons.push((await coached(t, { env: { MIRROR_URL: postgres.url(name) } })).daemon);
  await Promise.all(daemons.map((daemon) => daemon.ctl('mirror', 'allow')));
  await until('as many as fit are well', async () => (await count(postgres, 'positions WHERE source = \'actions\'')) >= MANY / 2 - 1, { ms: 120000, every: 500 });
  await until('the rest say why they are not', async () => (await Promise.all(daemons.map(says)))
    .some((text) => /PostgreSQL cannot be reached: .*(too many clients|remaining connection slots)/.test(text)), { ms: 120000, every: 500 });
  await limit(MANY + 10);
  await until('all are there', async () => (await count(postgres, 'sessions')) === MANY, { ms: 180000, every: 500 });
  assert.deepEqual(await postgres.sql('SELECT version FROM paige.schema_version'), [['1']]);
  assert.equal((await postgres.sql('SELECT DISTINCT learner FROM paige.actions')).length, MANY);
  await onceEach(postgres);
});
