// mirror_faults.test.mjs - a real PostgreSQL that is full, that somebody edits, that has too few connections; clocks that differ; a
// learner who is renamed. Whatever it was, afterwards every row is there once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { coached, tabs } from './lib/database.mjs';
import { arrived, fill, here, MIRROR, server, there, WITHOUT_MIRROR } from './lib/mirror.mjs';
import { Postgres } from './lib/postgres.mjs';
import { sideBySide } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const QUICK = Boolean(process.env.PAIGE_QUICK);
const MANY = QUICK ? 6 : 20;
const scenario = WITHOUT_MIRROR ? () => {} : sideBySide;

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
    console.log('  (left out: needs to mount a small file system)');
    return;
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
  assert.match(daemon.log('mirror'), /goes on by another origin/);
  await onceEach(postgres);
});

scenario(`${MANY} daemons start at once on an empty server that has too few connections, and then enough`, async (t) => {
  const postgres = t.closeLater(await Postgres.make(t.directory('pg')));
  const names = Array.from({ length: MANY }, (_, i) => `learner${i}`);
  await postgres.sql(`CREATE ROLE paige_learner; CREATE ROLE paige_teacher; ${names.map((name) => `CREATE ROLE ${name} LOGIN; GRANT paige_learner TO ${name}; GRANT CREATE ON DATABASE class TO ${name}`).join('; ')}`);
  const limit = async (connections) => {
    await postgres.stop();
    fs.appendFileSync(`${postgres.data}/postgresql.conf`, `max_connections = ${connections}\n`);
    await postgres.start();
  };
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
