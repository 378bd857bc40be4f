// mirror.test.mjs - what a learner did reaches a real PostgreSQL: only after they agreed, every row exactly once whatever is killed,
// nothing but what is listed, and each role sees what it may.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { coached, tabs } from './lib/database.mjs';
import { Daemon } from './lib/daemon.mjs';
import { Guard } from './lib/guard.mjs';
import { arrived, fill, here, MIRROR, server, there, WITHOUT_MIRROR } from './lib/mirror.mjs';
import { Postgres } from './lib/postgres.mjs';
import { signal } from './lib/processes.mjs';
import { sideBySide, unless } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const QUICK = Boolean(process.env.PAIGE_QUICK);
const KILLS = QUICK ? 6 : 50;
const KILLS_IN_LIFE = 9;
const WEEK = QUICK ? 20000 : 100000;
const SEED = Number(process.env.SEED ?? Date.now() % 1e9);
const scenario = unless(WITHOUT_MIRROR, sideBySide);

scenario('nothing is sent before the learner agrees, everything after it, and nothing after they stop', async (t) => {
  const postgres = await server(t);
  const { daemon, editor } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
  tabs(editor, 0, 20);
  await Guard.create(daemon, 'idle', 'machine-1');
  await Guard.create(daemon, 'breakloop', 'machine-2');
  assert.match((await daemon.ctl('mirror')).stdout, /^Never allowed\. Nothing is sent\.$/m);
  await sleep(3000);
  assert.deepEqual(await postgres.sql("SELECT usename FROM pg_stat_activity WHERE usename = 'ada'"), []);

  // The worker asks now and then: until it has, nobody is told that it may not. It is stopped here, so that it has not for certain.
  const asking = daemon.worker('mirror');
  signal(asking, 'SIGSTOP');
  const allowed = await daemon.ctl('mirror', 'allow');
  const soon = await daemon.ctl('mirror');
  signal(asking, 'SIGCONT');
  assert.match(soon.stdout, /^The mirror worker has not asked yet: it begins within seconds\.$/m);
  assert.equal(allowed.code, 0, allowed.stderr);
  assert.match(allowed.stdout, /^Allowed since /);
  await arrived(daemon, postgres);
  await until('status says so', async () => /The mirror worker: caught up/.test((await daemon.ctl('mirror', 'status')).stdout));
  assert.match((await daemon.get('/metrics')).text, /^paige_mirror_rows_total\{table="actions"\} \d+$/m);

  // Whatever an action was about has stayed here.
  fs.writeFileSync(path.join(daemon.projectDir, 'secret.c'), 'int the_secret;');
  editor.send('file:open', { path: 'secret.c' });
  await until('the row of the file', async () => (await daemon.actions('file_open')).length > 0);
  await arrived(daemon, postgres);
  const dump = (await postgres.sql("SELECT a::text FROM paige.actions AS a UNION ALL SELECT s::text FROM paige.sessions AS s UNION ALL SELECT g::text FROM paige.guard_events AS g")).join('\n');
  assert.ok(dump.includes('file_open') && !dump.includes('secret'), dump);

  const stopped = await daemon.ctl('mirror', 'stop');
  assert.match(stopped.stdout, /^Stopped since /);
  await sleep(1000); // a batch that was under way
  const before = await there(postgres, 'actions');
  tabs(editor, 20, 40);
  await sleep(4000);
  assert.equal(await there(postgres, 'actions'), before);
  await until('the connection is closed', async () => (await postgres.sql("SELECT usename FROM pg_stat_activity WHERE usename = 'ada'")).length === 0, { every: 500 });
  assert.equal(await there(postgres, 'actions'), before);
  await daemon.ctl('mirror', 'allow');
  await arrived(daemon, postgres);
  assert.equal((await postgres.sql('SELECT DISTINCT origin FROM paige.actions')).length, 1);

  const wrong = await daemon.ctl('mirror', 'alow');
  assert.deepEqual([wrong.code, wrong.stderr], [2, 'paigectl: "alow": status, allow or stop\n']);
});

scenario('a session is written anew when it has changed, and assessments stay', async (t) => {
  const postgres = await server(t);
  const { daemon, editor } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
  await daemon.ctl('mirror', 'allow');
  await daemon.sql("INSERT INTO plans SELECT 'p', id, 't', '2026-01-01T00:00:00.000Z' FROM sessions; INSERT INTO phases VALUES ('f', 'p', 1, 'Read it', 'd', 'active', 'medium', '[]', '2026-01-01T00:00:00.000Z', NULL); INSERT INTO dreyfus_assessments VALUES ('d', 'c', 'novice', 0.5, 'e', '2026-01-01T00:00:00.000Z'); SELECT 1 AS x");
  tabs(editor, 0, 1);
  await until('who is stuck', async () => (await postgres.sql('SELECT learner, phase, title FROM paige.stuck')).join() === 'ada,1,Read it', { every: 200 });
  await daemon.sql("UPDATE dreyfus_assessments SET stage = 'competent', assessed_at = '2026-01-02T00:00:00.000Z'; UPDATE phases SET status = 'complete'; SELECT 1 AS x");
  await editor.ask('session:end', {}, 'session:ended').catch(() => {});
  tabs(editor, 1, 2);
  await until('the progress', async () => (await postgres.sql('SELECT skill, stage, stage_before FROM paige.progress ORDER BY assessed_at')).join(' ') === 'c,novice, c,competent,novice', { every: 200 });
  await until('nobody is stuck', async () => (await postgres.sql('SELECT * FROM paige.stuck')).length === 0, { every: 200 });
  assert.equal((await postgres.sql('SELECT count(*) FROM paige.phases'))[0][0], '1');
});

scenario('PostgreSQL is away from the start, comes, is away again and comes back: everything else goes on, and every row is there once', async (t) => {
  const postgres = await server(t);
  await postgres.stop();
  const { daemon, editor } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
  await daemon.ctl('mirror', 'allow');
  tabs(editor, 0, 50);
  const degraded = async () => (await daemon.get('/health')).json.status === 'degraded' && (await daemon.ctl('status')).stdout;
  const said = await until('/health says degraded', degraded);
  assert.match(said, /^mirror +degraded: PostgreSQL cannot be reached: /m);
  assert.match((await daemon.ctl('mirror')).stdout, /PostgreSQL cannot be reached/);
  assert.equal((await daemon.get('/ready')).status, 200);
  await postgres.start();
  await arrived(daemon, postgres);
  await postgres.stop();
  tabs(editor, 50, 100);
  await until('degraded again', degraded);
  await postgres.start();
  await arrived(daemon, postgres);
  await until('/health says ok', async () => (await daemon.get('/health')).json.status === 'ok');
});

scenario('a role without rights, a schema that is newer, and a wrong URL are told with what to do', async (t) => {
  const postgres = await server(t);
  await postgres.sql('CREATE ROLE eve LOGIN');
  const daemon = await t.daemon({ env: { MIRROR_URL: postgres.url('eve') } });
  await daemon.ctl('mirror', 'allow');
  const reason = async (of) => (await of.ctl('mirror')).stdout;
  await until('the role lacks rights', async () => /permission denied.* must be a member of paige_learner/.test(await reason(daemon)));
  await postgres.sql('GRANT paige_learner TO eve; UPDATE paige.schema_version SET version = 2');
  await until('the schema is newer', async () => /The schema of PostgreSQL has version 2, and this Paige knows 1: install a newer Paige/.test(await reason(daemon)));
  await postgres.sql('UPDATE paige.schema_version SET version = 1');
  await until('all is well', async () => /caught up/.test(await reason(daemon)));

  for (const [url, problem] of [['postgresql:///class', 'it must name a host'], ['mysql://h/d', 'it must begin with postgresql://'], ['postgresql://u:hush@h/d?nonsense=1', 'it is no connection URI']]) {
    const other = new Daemon({ projectDir: daemon.projectDir, dataDir: t.directory('data'), env: { MIRROR_URL: url } });
    t.closeLater({ close: () => other.endNow() });
    await other.start().catch(() => {}); // it ends when a worker is parked before all others are ready
    await other.says('mirror', problem);
    assert.ok(!other.everythingWritten().includes('hush'));
  }
});

scenario('TLS is checked: a certificate of another name or of nobody known is refused', async (t) => {
  const postgres = await server(t);
  const { file } = await postgres.useTls('localhost');
  const url = (host, more) => `postgresql://ada@${host}:${postgres.port}/class?sslmode=verify-full${more}`;
  const { daemon, editor } = await coached(t, { env: { MIRROR_URL: url('localhost', `&sslrootcert=${file}`) } });
  await daemon.ctl('mirror', 'allow');
  tabs(editor, 0, 10);
  await arrived(daemon, postgres);
  assert.deepEqual(await postgres.sql("SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'ada'"), [['t']]);
  for (const [wrong, problem] of [[url('127.0.0.1', `&sslrootcert=${file}`), /does not match host name/], [url('localhost', '&sslrootcert=/etc/ssl/certs/ca-certificates.crt'), /certificate verify failed/]]) {
    const other = await t.daemon({ env: { MIRROR_URL: wrong } });
    await other.ctl('mirror', 'allow');
    await until(`${problem}`, async () => problem.test((await other.ctl('mirror')).stdout), { every: 100 });
    await t.release(other);
  }
});

scenario('a database that was put back to an earlier state goes on by another origin, and no row is there twice', async (t) => {
  const postgres = await server(t);
  const { daemon, editor } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
  await daemon.ctl('mirror', 'allow');
  tabs(editor, 0, 30);
  await arrived(daemon, postgres);
  const copy = path.join(t.directory('copy'), 'paige.db');
  assert.equal((await daemon.ctl('backup', copy)).code, 0);
  tabs(editor, 30, 60);
  await daemon.logged('tab_switch', 60);
  await arrived(daemon, postgres);
  const later = await there(postgres, 'actions');
  const { dataDir, projectDir } = daemon;
  await t.release(daemon, editor);
  for (const name of ['paige.db-wal', 'paige.db-shm']) fs.rmSync(path.join(dataDir, name), { force: true });
  fs.copyFileSync(copy, path.join(dataDir, 'paige.db'));

  const again = await t.daemon({ dataDir, projectDir, env: { MIRROR_URL: postgres.url('ada') } });
  const window = await t.editor(again);
  tabs(window, 60, 100);
  const mine = async () => (await again.sql('SELECT id FROM action_log ORDER BY id')).map((row) => row.id);
  await until('the new rows are logged', async () => (await again.actions('tab_switch')).length === 70);
  await until('every row is there', async () => {
    const ids = new Set((await postgres.sql('SELECT id FROM paige.actions')).flat());
    return (await mine()).every((id) => ids.has(id));
  }, { every: 200 });
  const ids = (await postgres.sql('SELECT id FROM paige.actions')).flat();
  assert.equal(new Set(ids).size, ids.length, 'no row twice');
  assert.ok(later.split('\n').every((line) => ids.includes(line.split(' ')[1])), 'what was lost here is still there');
  assert.equal((await postgres.sql('SELECT DISTINCT origin FROM paige.actions')).length, 2);
  await again.says('mirror', /goes on by another origin/);
});

scenario('each learner sees and writes rows of their own name alone; a teacher sees the views of all', async (t) => {
  const postgres = await server(t, ['ada', 'bob']);
  for (const role of ['ada', 'bob']) {
    const { daemon, editor } = await coached(t, { env: { MIRROR_URL: postgres.url(role) } });
    await daemon.ctl('mirror', 'allow');
    tabs(editor, 0, role === 'ada' ? 3 : 5);
    await until('the rows', async () => Number((await postgres.sql(`SELECT count(*) FROM paige.actions WHERE learner = '${role}' AND type = 'tab_switch'`))[0][0]) === (role === 'ada' ? 3 : 5), { every: 200 });
  }
  for (const table of ['actions', 'api_calls', 'guard_events', 'sessions', 'phases', 'assessments', 'positions'])
    for (const [learner] of await postgres.sql(`SELECT DISTINCT learner FROM paige.${table}`, { role: 'ada' })) assert.equal(learner, 'ada', table);
  assert.equal((await postgres.sql("SELECT count(*) FROM paige.actions WHERE type = 'tab_switch'", { role: 'ada' }))[0][0], '3');
  const insert = "INSERT INTO paige.sessions VALUES ('bob', gen_random_uuid(), 1, 'x', NULL, NULL, 'active', now(), NULL)";
  await assert.rejects(postgres.sql(insert, { role: 'ada' }), /violates row-level security policy/);
  await assert.rejects(postgres.sql('DELETE FROM paige.actions', { role: 'ada' }), /permission denied/);
  await assert.rejects(postgres.sql("UPDATE paige.actions SET type = 'x'", { role: 'ada' }), /permission denied/);
  await assert.rejects(postgres.sql('SELECT * FROM paige.actions_0', { role: 'ada' }), /permission denied/);
  await assert.rejects(postgres.sql('SELECT * FROM paige.stuck', { role: 'ada' }), /permission denied/);
  await postgres.sql('CREATE ROLE tina LOGIN; GRANT paige_teacher TO tina');
  await postgres.sql("UPDATE paige.sessions SET issue_title = 'x'");
  for (const view of ['stuck', 'progress', 'costs']) await postgres.sql(`SELECT * FROM paige.${view}`, { role: 'tina' });
  await assert.rejects(postgres.sql('SELECT * FROM paige.actions', { role: 'tina' }), /permission denied/);
});

scenario('many that make the schema at once wait for each other', async (t) => {
  const postgres = t.closeLater(await Postgres.make(t.directory('pg')));
  await Promise.all(Array.from({ length: QUICK ? 20 : 60 }, () => postgres.prepare(MIRROR, [])));
  assert.deepEqual(await postgres.sql('SELECT version FROM paige.schema_version'), [['1']]);
  // A daemon whose role may make it does so by itself.
  await postgres.sql('DROP SCHEMA paige CASCADE');
  const { daemon } = await coached(t, { env: { MIRROR_URL: postgres.url() } });
  await daemon.ctl('mirror', 'allow');
  await until('the schema is there', () => postgres.sql('SELECT version FROM paige.schema_version'));
  await arrived(daemon, postgres);
});

scenario('the columns in PostgreSQL are those that are listed, and rows that somebody damaged are left out and told', async (t) => {
  const postgres = await server(t);
  const catalogue = fs.readFileSync(new URL('../../proto/catalogue/entities.def', import.meta.url), 'utf8');
  for (const [, table, fields] of catalogue.matchAll(/^TYPE\(mirror_(\w+), [^]*?\)\n([^]*?)END_TYPE/gm)) {
    const columns = (await postgres.sql(`SELECT column_name FROM information_schema.columns WHERE table_schema = 'paige' AND table_name = '${table}' ORDER BY ordinal_position`)).flat();
    if (columns.length) assert.deepEqual(columns.filter((name) => name !== 'learner' && name !== 'origin').sort(), [...fields.matchAll(/^\w+\(\w+, "(\w+)"/gm)].map((match) => match[1]).sort(), table);
  }
  const { daemon, editor } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
  await daemon.sql("INSERT INTO action_log SELECT 'bad-1', id, 'tab_switch', NULL, 'yesterday at seven or thereab' FROM sessions; INSERT INTO action_log SELECT 'bad-2', id, 'tab_switch', NULL, '2026-13-45T00:00:00.000Z' FROM sessions; INSERT INTO action_log SELECT 'bad-3', id, 'tab_' || char(0) || 'x', NULL, '2026-01-01T00:00:00.000Z' FROM sessions; SELECT 1 AS x");
  await daemon.ctl('mirror', 'allow');
  tabs(editor, 0, 5);
  await until('the rows behind them', async () => Number((await postgres.sql("SELECT count(*) FROM paige.actions WHERE type = 'tab_switch'"))[0][0]) >= 5, { every: 100 });
  assert.deepEqual(await postgres.sql("SELECT id FROM paige.actions WHERE id IN ('bad-1', 'bad-2')"), []);
  await daemon.says('mirror', /rows of the database are damaged/);
});

scenario(`a week offline: ${WEEK} rows`, async (t) => {
  const postgres = await server(t);
  await postgres.stop();
  const { daemon } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
  await fill(daemon, 1, WEEK);
  await postgres.start();
  await daemon.ctl('mirror', 'allow');
  const count = async () => Number((await postgres.sql('SELECT count(*) FROM paige.actions'))[0][0]);
  await until('the first rows', async () => (await count()) > 0, { every: 20 });
  const from = performance.now(), already = await count();
  await until('all rows', async () => (await count()) > WEEK, { every: 50 });
  const seconds = (performance.now() - from) / 1000;
  console.log(`  ${WEEK - already} rows in ${seconds.toFixed(1)} s: ${Math.round((WEEK - already) / seconds)} rows a second`);
  await arrived(daemon, postgres);
});

scenario(`every row is there exactly once after ${KILLS} kills of mirror, store and PostgreSQL (SEED=${SEED})`, async (t) => {
  const postgres = await server(t);
  let { daemon, editor } = await coached(t, { env: { MIRROR_URL: postgres.url('ada') } });
  await daemon.ctl('mirror', 'allow');
  let state = SEED, number = 0, busy = true;
  const dice = (n) => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8) % n;
  const writing = (async () => {
    while (busy) {
      if (editor) tabs(editor, number, number + 20);
      number += 20;
      await sleep(20);
    }
  })();
  try {
    for (let n = 0; n < KILLS; n += 1) {
      // Another life, since workers that die again and again are started after pauses that grow.
      if (n > 0 && n % KILLS_IN_LIFE === 0) {
        const { dataDir, projectDir } = daemon, old = [daemon, editor];
        editor = null;
        await t.release(...old);
        daemon = await t.daemon({ dataDir, projectDir, env: { MIRROR_URL: postgres.url('ada') } });
        editor = await t.editor(daemon);
      }
      await sleep(100 + dice(900));
      const victim = ['mirror', 'store', 'postgres'][n % 3];
      if (victim === 'postgres') {
        await postgres.kill9();
        await sleep(dice(500));
        await postgres.start();
      } else {
        await daemon.kill9(victim);
      }
    }
  } finally {
    busy = false;
    await writing;
  }
  await until('the store has every row', async () => (await daemon.get('/health')).json.workers.store === 'up');
  let before = -1;
  await until('no more rows come', async () => {
    const [{ n }] = await daemon.sql('SELECT count(*) AS n FROM action_log');
    const same = n === before;
    before = n;
    return same && n;
  }, { every: 2000 });
  await arrived(daemon, postgres, undefined, 120000);
  const [[rows, ids, numbers]] = await postgres.sql('SELECT count(*), count(DISTINCT id), count(DISTINCT number) FROM paige.actions');
  assert.ok(rows === ids && rows === numbers && Number(rows) === before, `${rows} rows, ${ids} ids, ${numbers} numbers, ${before} here`);
  console.log(`  ${rows} rows, ${KILLS} kills`);
});
