// What confined workers can still do: a library inside each worker of a real daemon tries it (tests/confine/attacks.c), on the
// loop's thread and on one of nng's, with Landlock as every kernel up to this one has it. The outcome is proto/docs/confinement.md;
// PAIGE_WRITE=1 writes it.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import { constants as os } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Daemon, PAIGED, WORKERS as ALWAYS } from './lib/daemon.mjs';
import { threads } from './lib/processes.mjs';
import { scratch, smallProject } from './lib/project.mjs';
import { trojan } from './lib/trojan.mjs';
import { until } from './lib/wait.mjs';

const run = promisify(execFile);
const SCHED_BATCH = 3;
const PAGE = fileURLToPath(new URL('../../proto/docs/confinement.md', import.meta.url));
/** Those that are confined. */
const WORKERS = [...ALWAYS, 'mirror'];
const cannot = !process.env.ATTACKS ? 'needs the library of attacks' : !fs.existsSync(path.join(path.dirname(PAIGED), '..', 'workers', 'mirror', 'paige-mirror')) && 'built without the mirror (libpq)';
/** The ABI that the page goes up to. */
const NEWEST = 7;
/** What the running kernel offers: landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION). */
const ABI = Math.max(0, Number(execFileSync('python3', ['-c', 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))'], { encoding: 'utf8' })));

/** What common/confine/confine_gaps.def says is left open: [{abi that closes it, broker: whether that does, too, what, attacks that show it}]. */
const GAPS = [...fs.readFileSync(new URL('../../common/confine/confine_gaps.def', import.meta.url), 'utf8').matchAll(/^GAP\((\d+), "[^"]*", ([01]), "([^"]*)",\s*((?:"[^"]*"\s*)+)\)/gm)]
  .map(([, abi, broker, what, attacks]) => ({ abi: Number(abi), broker: broker === '1', what, attacks: attacks.replaceAll('"', '').split(/\s+/).filter(Boolean) }));
/** What is no gap, because the worker is there to do it. */
const NEEDED = { gateway: ['reach-all-workers'], store: ['read-the-token', 'read-data-of-the-store'], fswatch: ['read-the-project'], llm: ['connect-tcp', 'socket-udp'], mirror: ['connect-tcp', 'socket-udp'] };

/** Everything that may be damaged. */
async function prey(dir) {
  const files = [];
  for (const name of WORKERS) {
    for (const thread of ['loop', 'nng']) {
      const own = path.join(dir, `${name}-${thread}`);
      fs.mkdirSync(own);
      for (const file of ['file', 'rename', 'remove']) fs.writeFileSync(path.join(own, file), 'secret', { mode: 0o600 });
      files.push(path.join(own, 'file'));
    }
  }
  await run('python3', ['-c', 'import os,sys\nfor file in sys.argv[1:]: os.setxattr(file, "user.there", b"x")', ...files]);
}

/** {worker: {attack: errno, the smaller of both threads}} on a kernel with that ABI, which may forbid the supervisor to make connections. */
async function outcome(t, abi, { broker = true } = {}) {
  const root = scratch('attack');
  const preyDir = path.join(root, 'prey');
  const victim = spawn('sleep', ['600'], { detached: true });
  const listeners = Array.from({ length: 4 }, () => net.createServer());
  // It connects nowhere before the learner has agreed.
  const daemon = new Daemon({ projectDir: smallProject(), dataDir: scratch('data'), env: { MIRROR_URL: 'postgresql://127.0.0.1:9/class' } });
  t.after(() => {
    daemon.endNow();
    victim.kill('SIGKILL');
    for (const listener of listeners) listener.close();
    for (const dir of [root, daemon.projectDir, daemon.dataDir]) fs.rmSync(dir, { recursive: true, force: true });
    daemon.removeScratch();
  });
  for (const listener of listeners) listener.on('connection', (socket) => socket.destroy());
  fs.mkdirSync(preyDir);
  await prey(preyDir);
  const abstract = `paige-attack-${process.pid}-${abi}`;
  const bus = path.join(daemon.root, 'runtime', 'bus');
  fs.mkdirSync(path.dirname(bus), { recursive: true, mode: 0o700 });
  await Promise.all([0, path.join(root, 'socket'), `\0${abstract}`, bus].map((where, i) => new Promise((done) => listeners[i].listen(where, '127.0.0.1', done))));
  fs.writeFileSync(path.join(root, 'environment'), Object.entries({
    LD_PRELOAD: process.env.ATTACKS, ATTACK_DIR: preyDir, ATTACK_VICTIM: victim.pid, ATTACK_PORT: listeners[0].address().port,
    ATTACK_SOCKET: path.join(root, 'socket'), ATTACK_ABSTRACT: abstract, ATTACK_ABI: abi, ATTACK_ROOT: root, ATTACK_BUS: bus,
  }).map(([name, value]) => `export ${name}='${value}'\n`).join('') + (broker ? '' : 'unset PAIGE_BROKER\n'));
  // With the library in each of them.
  daemon.command = [trojan(root, (name, program) => [`. ${root}/environment`, `exec ${program} "$@"`])];
  fs.mkdirSync(path.join(daemon.root, 'home', '.ssh'), { recursive: true });
  fs.writeFileSync(path.join(daemon.root, 'home', '.ssh', 'id'), 'key');
  fs.writeFileSync(path.join(daemon.dataDir, 'kept'), 'of the store');
  await daemon.start({ ms: 60000 }); // the attacks hold up the loops
  const found = {};
  for (const name of WORKERS) {
    const text = await until(`the attacks of ${name} are over`, () => {
      const all = fs.readFileSync(path.join(preyDir, `${name}.out`), 'utf8');
      return all.endsWith('done\n') && all;
    }, { ms: 60000 });
    found[name] = {};
    for (const line of text.split('\n')) {
      const [thread, attack, errno] = line.split(' ');
      if (errno === undefined) continue;
      // Anything else would be a failure of the attack and prove nothing.
      assert.ok([0, os.errno.EPERM, os.errno.EACCES, os.errno.EXDEV, os.errno.ENOSYS].includes(Number(errno)), `${name}, ${attack}: errno ${errno}`);
      const before = found[name][attack];
      // Without the broker it is a matter of luck what a swap does.
      assert.ok(!broker || before === undefined || (before === 0) === (Number(errno) === 0), `${name}, ${attack}: ${errno} on ${thread}, ${before} on the other thread`);
      found[name][attack] = Math.min(before ?? Number(errno), Number(errno));
    }
  }
  return found;
}

function page(outcomes) {
  const attacks = Object.keys(outcomes[0].gateway);
  const cell = (name, attack) => {
    const refused = outcomes.map((found) => found[name][attack] !== 0);
    const first = refused.indexOf(true);
    for (let abi = Math.max(first, 0); abi < refused.length; abi++) assert.equal(refused[abi], first >= 0, `${name}, ${attack}: refused with ABI ${first}, done with ABI ${abi}`);
    return first < 0 ? 'done' : first === 0 ? '-' : `refused from ABI ${first}`;
  };
  return [
    '# What confined workers can still do', '',
    '<!-- Written by tests/integration/confinement.test.mjs. -->', '',
    'The kernel lets the supervisor make the connections of workers (supervisor/paiged/process/broker.h); where it does not, `paigectl status` tells what',
    'is open besides. A library inside each worker tries these things after the worker is confined, on two of its threads. `-`: refused on every kernel.',
    '`refused from ABI n`: done on a kernel whose Landlock has a smaller ABI. `done`: possible on every kernel up to ABI ' + NEWEST + '.',
    'The agent worker is not confined: what it starts may do whatever its user may. Neither is paige-gh, which llm starts before it is',
    'confined: it runs gh with the rights of the user and without the key for Claude: issue list, issue view and api user, with any options.', '',
    `| tried | ${WORKERS.join(' | ')} |`,
    `|---|${WORKERS.map(() => '---|').join('')}`,
    ...attacks.map((attack) => `| ${attack} | ${WORKERS.map((name) => cell(name, attack)).join(' | ')} |`), '',
  ].join('\n');
}

test('workers can do what the page says, and nothing else', { skip: cannot, timeout: 300000 }, async (t) => {
  // Two at a time, since the attacks wait more than they work.
  const outcomes = [];
  let next = 0;
  await Promise.all([1, 2].map(async () => {
    while (next <= Math.min(ABI, NEWEST)) {
      const abi = next++;
      outcomes[abi] = await outcome(t, abi);
    }
  }));
  if (process.env.PAIGE_WRITE) fs.writeFileSync(PAGE, page(outcomes));
  const written = fs.readFileSync(PAGE, 'utf8');
  if (ABI >= NEWEST) {
    assert.equal(page(outcomes), written);
    return;
  }
  // An older kernel shows the same but for what only newer ones refuse.
  const older = written.replaceAll(/refused from ABI (\d+)/g, (cell, from) => (Number(from) <= ABI ? cell : 'done'));
  assert.equal(page(outcomes), older);
});

test('without the supervisor, workers connect to what the list of gaps says', { skip: cannot, timeout: 60000 }, async (t) => {
  const found = await outcome(t, ABI, { broker: false });
  for (const { abi, attacks } of GAPS.filter((gap) => gap.broker)) for (const attack of attacks) for (const name of WORKERS) assert.equal(found[name][attack] === 0, abi > ABI || !!NEEDED[name]?.includes(attack), `${name}, ${attack}`);
});

test('what the page shows to be open is what the list of gaps says', () => {
  const [names, , ...rows] = fs.readFileSync(PAGE, 'utf8').split('\n').filter((line) => line.startsWith('|')).map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
  assert.deepEqual(names.slice(1), WORKERS);
  const shown = new Set();
  for (const [attack, ...cells] of rows) {
    for (const [i, cell] of cells.entries()) {
      const told = GAPS.filter((gap) => !gap.broker && gap.attacks.includes(attack));
      const closed = cell.match(/^refused from ABI (\d+)$/);
      if (cell === '-' || NEEDED[WORKERS[i]]?.includes(attack)) {
        assert.equal(cell, cell === '-' ? '-' : 'done', `${WORKERS[i]} needs ${attack}`);
        continue;
      }
      assert.ok(closed || cell === 'done', `${attack}: ${cell}`);
      assert.equal(told.length, 1, `${WORKERS[i]}, ${attack}: ${cell}; told by ${told.length} gaps`);
      assert.ok(closed ? told[0].abi === Number(closed[1]) : told[0].abi > NEWEST, `${WORKERS[i]}, ${attack}: ${cell}; the gap is closed by ABI ${told[0].abi}`);
      shown.add(attack);
    }
  }
  for (const { broker, attacks } of GAPS) for (const attack of attacks) assert.equal(shown.has(attack), !broker, `${attack} is told as a gap`);
});

/** A daemon that may look into no other process when `ptrace` is false, as Yama and containers can have it: what it says is open. */
async function status(t, { ptrace = true, env } = {}) {
  const daemon = new Daemon({ projectDir: smallProject(), dataDir: scratch('data'), env });
  t.after(() => {
    daemon.endNow();
    for (const dir of [daemon.projectDir, daemon.dataDir]) fs.rmSync(dir, { recursive: true, force: true });
    daemon.removeScratch();
  });
  if (!ptrace) daemon.command = [process.env.NO_PTRACE, ...daemon.command];
  await daemon.start();
  await daemon.healthy();
  const told = JSON.parse((await daemon.ctl('status', '--json')).stdout);
  // The machine may forbid it by itself.
  const broker = !/workers connect by themselves/.test(daemon.log('paiged'));
  const gaps = GAPS.filter((gap) => gap.abi > ABI && !(gap.broker && broker)).map((gap) => gap.what);
  assert.ok(GAPS.length > 0);
  assert.equal(told.landlock_abi, ABI);
  assert.deepEqual(told.confinement_gaps, gaps);
  const { stdout } = await daemon.ctl('status');
  for (const gap of gaps) assert.ok(stdout.includes(`  ${gap}\n`), stdout);
  return { broker, daemon };
}

test('confinement leaves nng\'s threads where the bus puts them', { timeout: 60000 }, async (t) => {
  const { daemon } = await status(t);
  const placed = WORKERS.filter((name) => daemon.worker(name)).map((name) => ({ name, found: threads(daemon.worker(name).pid).filter((thread) => thread.name.startsWith('nng:')) }));
  assert.ok(placed.length >= 6);
  const processors = new Set(placed.flatMap(({ found }) => found.map((thread) => thread.processors)));
  assert.equal(processors.size, 1, `one processor for all of them: ${[...processors].join(' ')}`);
  assert.match([...processors][0], /^\d+$/);
  for (const { name, found } of placed) {
    const tasks = found.filter((thread) => thread.name === 'nng:task');
    assert.ok(tasks.length > 1, name);
    assert.equal(tasks.filter(({ policy }) => policy === SCHED_BATCH).length, 1, `${name}: the task thread that works is a batch thread`);
  }
});

test('status tells what the running kernel leaves open', { timeout: 60000 }, (t) => status(t));

test('where nobody may look into another process, workers connect by themselves, and status tells what is open for that', { skip: !process.env.NO_PTRACE && 'needs no_ptrace', timeout: 60000 }, async (t) => {
  const { broker, daemon } = await status(t, { ptrace: false });
  assert.equal(broker, false);
  // Those that are started later, too.
  const { pid } = await daemon.kill9('store');
  await until('another store', () => daemon.worker('store') && daemon.worker('store').pid !== pid);
  await daemon.healthy();
});

test('a worker that the supervisor may no longer look into is told as cut off, until it may again', { skip: !process.env.NO_PTRACE_LATER && 'needs no_ptrace_later', timeout: 120000 }, async (t) => {
  const forbidden = path.join(scratch('yama'), 'forbidden');
  const { broker, daemon } = await status(t, { env: { LD_PRELOAD: process.env.NO_PTRACE_LATER, NO_PTRACE_WHILE: forbidden } });
  t.after(() => fs.rmSync(path.dirname(forbidden), { recursive: true, force: true }));
  if (!broker) return t.skip('the machine forbids it from the start');
  const told = async () => JSON.parse((await daemon.ctl('status', '--json')).stdout).workers.filter(({ name }) => ALWAYS.includes(name));
  const health = async () => (await daemon.get('/health')).json.status;
  const logged = (text) => daemon.log('paiged').split(text).length - 1;
  const CUT_OFF = 'a worker can connect to nobody any more', AGAIN = 'a worker can connect again';
  assert.equal(logged(CUT_OFF), 0);

  fs.writeFileSync(forbidden, '');
  await until('it is told of each worker', async () => (await told()).every(({ condition, reason }) => condition === 'degraded' && /kernel\.yama\.ptrace_scope/.test(reason)));
  await until('/health tells it', async () => (await health()) === 'degraded');
  assert.match((await daemon.ctl('status')).stdout, /^store +degraded: it can connect to nobody: the kernel forbids/m);
  assert.equal(logged(CUT_OFF), ALWAYS.length);

  // One that is started now connects to nobody, and that is told at once.
  const { pid } = await daemon.kill9('observer');
  await until('another observer', async () => (await told()).some((worker) => worker.name === 'observer' && worker.pid && worker.pid !== pid && worker.condition === 'degraded'));
  assert.ok((await told()).some(({ name, state }) => name === 'observer' && state !== 'ready'));

  fs.rmSync(forbidden);
  await until('all is well', async () => (await health()) === 'ok');
  assert.ok((await told()).every(({ condition, state }) => condition === 'fine' && state === 'ready'));
  assert.equal(logged(AGAIN), ALWAYS.length);
});
