// mirror_daemons.mjs - many learners and one PostgreSQL: daemons that start at once, each with a DATA_DIR, a project and a role of its own,
// with rows that wait for the mirror, on a server without the schema. Then PostgreSQL is killed and comes back. Prints how long it took
// until all were ready, until every row was there, until all were at rest and until all were connected again, and what daemons and PostgreSQL
// take at rest. Ends with 1 unless every learner has each row once and all mirrors are well.
// `node tests/bench/mirror_daemons.mjs [DAEMONS [ROWS [SECONDS]]]`; PAIGED names another build than build/. Above 120 daemons of one user
// raise fs.inotify.max_user_instances first (docs/operating.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Daemon } from '../integration/lib/daemon.mjs';
import { Editor } from '../integration/lib/editor.mjs';
import { fill, here, WITHOUT_MIRROR } from '../integration/lib/mirror.mjs';
import { Postgres } from '../integration/lib/postgres.mjs';
import { cpuSeconds, descendants, pss } from '../integration/lib/processes.mjs';
import { scratch, smallProject } from '../integration/lib/project.mjs';
import { sleep, until } from '../integration/lib/wait.mjs';

const COUNT = Number(process.argv[2] ?? 20);
const ROWS = Number(process.argv[3] ?? 500);
const SECONDS = Number(process.argv[4] ?? 60);
/** All of them begin at once, so each has to wait for the others. */
const START_MS = 60_000 + COUNT * 3_000;
/** What was begun at the start is over by then, and mirrors rest as long as they ever do. */
const SETTLE_MS = 40_000;

const mib = (bytes) => (bytes / 1048576).toFixed(1);
const took = (from) => `${((performance.now() - from) / 1000).toFixed(1)} s`;
const family = (pid) => [pid, ...descendants(pid).map((entry) => entry.pid)];
/** Processor time by process, of those that are there: some of PostgreSQL's come and go. */
const times = (pids) => new Map(pids.flatMap((pid) => {
  try {
    return [[pid, cpuSeconds([pid])]];
  } catch {
    return []; // it has just ended
  }
}));
const spent = (before) => [...times([...before.keys()])].reduce((all, [pid, seconds]) => all + seconds - before.get(pid), 0);
const number = async (postgres, query) => Number((await postgres.sql(query))[0][0]);

/** So many at a time, since each is a process or a request. */
async function each(items, work, lanes = 16) {
  const results = [], queue = [...items.entries()];
  await Promise.all(Array.from({ length: lanes }, async () => {
    for (let next; (next = queue.shift()); ) results[next[0]] = await work(next[1], next[0]);
  }));
  return results;
}

if (WITHOUT_MIRROR) process.exit(77);

const directories = [], daemons = [];
const kept = (directory) => (directories.push(directory), directory);
let postgres;

/** A DATA_DIR with a session and rows, of a daemon that has ended. */
async function withRows() {
  const daemon = new Daemon({ projectDir: kept(smallProject()), dataDir: kept(scratch('data')) });
  try {
    await daemon.start();
    const editor = await Editor.connect(daemon);
    await editor.ask('session:start', { issueNumber: 1 }, 'session:started');
    await fill(daemon, 1, ROWS);
    await editor.close();
    await daemon.stop();
  } finally {
    daemon.endNow();
    daemon.removeScratch();
  }
  return daemon.dataDir;
}

/** A learner of that past, who has agreed. */
function learner(source, role) {
  const dataDir = kept(scratch('data'));
  fs.chmodSync(dataDir, 0o700);
  for (const name of ['paige.db', 'guard.db']) fs.copyFileSync(path.join(source, name), path.join(dataDir, name));
  const consent = { allowed: true, since: new Date().toISOString(), origin: randomUUID() };
  fs.writeFileSync(path.join(dataDir, 'mirror-consent'), JSON.stringify(consent), { mode: 0o600 });
  return new Daemon({ projectDir: kept(smallProject()), dataDir, env: { MIRROR_URL: postgres.url(role) } });
}

const connected = () => number(postgres, "SELECT count(DISTINCT usename) FROM pg_stat_activity WHERE usename LIKE 'learner%'");

/** The sum of a counter of all mirrors. */
async function sum(counter) {
  const values = await each(daemons, async (daemon) => Number((await daemon.get('/metrics', { ms: 60_000 })).text.match(new RegExp(`^${counter} (\\d+)$`, 'm'))?.[1] ?? 0));
  return values.reduce((a, b) => a + b, 0);
}

/** What each mirror is at. On a machine that is this busy a single paigectl may come too late. */
const states = () => each(daemons, (daemon) => until('what a mirror is at', async () => (await daemon.ctl('mirror')).stdout.match(/^The mirror worker(?: is)?:? (.*?)\.?$/m)?.[1], { ms: START_MS, every: 500 }));

async function compare() {
  const there = new Map(daemons.map((daemon, i) => [`learner${i}`, []]));
  for (const [role, row, id] of await postgres.sql('SELECT learner, number, id FROM paige.actions ORDER BY learner, number')) there.get(role).push(`${row} ${id}`);
  await each(daemons, async (daemon, i) => assert.equal(there.get(`learner${i}`).join('\n'), await here(daemon, 'actions'), `learner${i}`));
  assert.deepEqual((await states()).filter((state) => !/^(caught up|carrying)$/.test(state)), []);
  assert.deepEqual(await postgres.sql('SELECT version FROM paige.schema_version'), [['1']]);
}

try {
  postgres = await Postgres.make(kept(scratch('pg')));
  await postgres.startAnew({ settings: [`max_connections = ${COUNT + 10}`] });
  const roles = Array.from({ length: COUNT }, (_, i) => `learner${i}`);
  await postgres.sql(`CREATE ROLE paige_learner; CREATE ROLE paige_teacher; ${roles.map((role) => `CREATE ROLE ${role} LOGIN; GRANT paige_learner TO ${role}; GRANT CREATE ON DATABASE class TO ${role}`).join('; ')}`);
  const source = await withRows();
  for (const role of roles) daemons.push(learner(source, role));

  const began = performance.now();
  await Promise.all(daemons.map((daemon) => daemon.start({ ms: START_MS })));
  console.log(`${COUNT} daemons: all ready after ${took(began)}`);
  // The rows that were filled; what the start adds is compared below.
  const wanted = COUNT * ROWS;
  await until('every row', async () => (await number(postgres, 'SELECT count(*) FROM paige.actions')) >= wanted, { ms: START_MS, every: 1000 });
  const there = took(began);
  const seconds = await number(postgres, 'SELECT extract(epoch FROM max(moved_at) - min(moved_at)) FROM paige.positions');
  console.log(`${wanted} rows there after ${there}, ${Math.round(wanted / seconds)} a second from the first to the last batch; ${await sum('paige_mirror_failures_total')} attempts failed meanwhile`);
  await until('all at rest', async () => (await states()).every((state) => state === 'caught up'), { ms: START_MS, every: 1000 });
  console.log(`every mirror at rest after ${took(began)}`);
  await sleep(SETTLE_MS);
  await compare();

  const ofDaemons = times(daemons.flatMap((daemon) => family(daemon.pid))), ofPostgres = times(family(postgres.child.pid));
  const from = performance.now();
  await sleep(SECONDS * 1000);
  const share = (before) => (100 * spent(before)) / ((performance.now() - from) / 1000);
  const memory = (before) => mib(pss([...times([...before.keys()]).keys()]));
  console.log(`at rest: daemons ${share(ofDaemons).toFixed(2)} % of a processor, ${memory(ofDaemons)} MiB, ${ofDaemons.size} processes; PostgreSQL ${share(ofPostgres).toFixed(2)} %, ${memory(ofPostgres)} MiB, ${await connected()} connections`);

  const failures = await sum('paige_mirror_failures_total');
  await postgres.kill9();
  await postgres.start();
  const back = performance.now();
  // A mirror connects when it next looks. Until all have, how many come within a second is how they are spread.
  const counts = [];
  await until('all are connected again', async () => counts.push(await connected()) && counts.at(-1) === COUNT, { ms: 300_000, every: 1000 });
  console.log(`PostgreSQL killed and started: all connected again after ${took(back)}, seen about every second: ${counts.join(' ')}; ${(await sum('paige_mirror_failures_total')) - failures} attempts failed`);
  await compare();
  await each(daemons, (daemon) => daemon.stop());
  console.log('every row of every learner is there once');
} finally {
  for (const daemon of daemons) {
    daemon.endNow();
    daemon.removeScratch();
  }
  postgres?.close();
  for (const directory of directories) fs.rmSync(directory, { recursive: true, force: true });
}
