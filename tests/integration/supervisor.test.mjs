// The supervisor alone: real paiged and paigectl, with stub workers that keep the contract of proto/worker.h or break
// it as they are told (stub/stub_worker.c). "Hasty" tests run a paiged whose patience is a tenth (POLICY_HASTE).
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { inBackground } from './lib/background.mjs';
import { ended } from './lib/processes.mjs';
import { STOP_ORDER, WORKERS } from './lib/workers.mjs';

const { PAIGED, PAIGED_HASTY, PAIGECTL, STUB_WORKER } = process.env;
const HASTE = 10;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks until it is so; the bound is for a busy machine, what must be fast is measured where it matters. */
async function until(condition, what, ms = 60000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) assert.fail(`not within ${ms} ms: ${what}`);
    await sleep(5);
  }
}

// ---- processes, by pid and start time so that a reused number is never mistaken ----

function stat(pid) {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const rest = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, state: rest[0], ppid: Number(rest[1]), start: rest[19] };
  } catch {
    return null;
  }
}

function programName(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0].split('/').pop();
  } catch {
    return ''; // it has just ended
  }
}

const alive = (p) => {
  const now = stat(p.pid);
  return !!now && now.start === p.start && now.state !== 'Z';
};

const childrenOf = (pid) => fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => stat(Number(name)))
  .filter((p) => p && p.ppid === pid && p.state !== 'Z')
  .map((p) => ({ ...p, name: programName(p.pid).replace(/^paige-/, '') }));

// ---- a daemon in a directory of its own ----

class Daemon {
  constructor(t, { hasty = false, modes = {}, env = {}, args = [], dataDir } = {}) {
    this.t = t;
    this.args = args;
    this.through = []; // a command that becomes the daemon
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), 'paige-sv-'));
    for (const name of ['supervisor', 'project', 'run', 'cwd']) fs.mkdirSync(path.join(this.root, name), { mode: 0o700 });
    this.dataDir = dataDir ?? path.join(this.root, 'data');
    this.paiged = path.join(this.root, 'supervisor', 'paiged');
    fs.copyFileSync(hasty ? PAIGED_HASTY : PAIGED, this.paiged);
    for (const name of WORKERS) {
      fs.mkdirSync(path.join(this.root, 'workers', name), { recursive: true });
      fs.copyFileSync(STUB_WORKER, this.program(name));
    }
    for (const [name, mode] of Object.entries(modes)) this.mode(name, mode);
    this.env = {
      PATH: process.env.PATH, HOME: this.root, XDG_RUNTIME_DIR: path.join(this.root, 'run'), PORT: '0',
      PROJECT_DIR: path.join(this.root, 'project'), DATA_DIR: this.dataDir, ANTHROPIC_API_KEY: 'sk-secret-key', GH_TOKEN: 'gh-secret',
      ASAN_OPTIONS: 'quarantine_size_mb=0:thread_local_quarantine_size_kb=0', ...env,
    };
    t.after(() => this.cleanUp());
  }

  program(name) {
    return path.join(this.root, 'workers', name, `paige-${name}`);
  }

  /** What the stub of that name does from its next start on. */
  mode(name, mode) {
    fs.mkdirSync(path.join(this.dataDir, 'modes'), { recursive: true });
    fs.writeFileSync(path.join(this.dataDir, 'modes', name), mode);
  }

  launch() {
    this.startedAt = Date.now();
    this.output = '';
    const [program, ...args] = [...this.through, this.paiged, ...this.args];
    this.child = spawn(program, args, { env: this.env, cwd: path.join(this.root, 'cwd'), stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr]) stream.setEncoding('utf8').on('data', (text) => (this.output += text));
    this.ended = null;
    this.end = ended(this.child).then((end) => (this.ended = end));
    return this;
  }

  async start() {
    this.launch();
    await until(() => this.ended || this.output.includes('Paige is ready'), 'ready');
    assert.equal(this.ended, null, this.output);
    return this;
  }

  get pid() {
    return this.child.pid;
  }

  worker(name) {
    return childrenOf(this.pid).find((p) => p.name === name);
  }

  async stop(signal = 'SIGTERM') {
    const family = childrenOf(this.pid);
    let left;
    this.child.once('exit', () => (left = family.filter(alive)));
    this.child.kill(signal);
    await until(() => this.ended, 'the daemon ends');
    assert.deepEqual(this.ended, { code: 0, signal: null }, this.output);
    assert.deepEqual(left, [], 'nothing outlives it');
  }

  log(name) {
    try {
      return fs.readFileSync(path.join(this.dataDir, 'logs', `${name}.log`), 'utf8');
    } catch {
      return '';
    }
  }

  count(name, text) {
    return this.log(name).split(text).length - 1;
  }

  ctl(...args) {
    return new Promise((resolve) => {
      execFile(PAIGECTL, args, { env: this.env, cwd: path.join(this.root, 'cwd'), timeout: 20000 }, (error, stdout, stderr) => {
        resolve({ code: error ? error.code : 0, stdout, stderr });
      });
    });
  }

  async status(name) {
    const answer = await this.ctl('status', '--json');
    assert.notEqual(answer.stdout, '', answer.stderr);
    const status = JSON.parse(answer.stdout);
    return name ? status.workers.find((w) => w.name === name) : status;
  }

  async cleanUp() {
    if (this.child && !this.ended) {
      const family = childrenOf(this.pid);
      this.child.kill('SIGKILL');
      for (const p of family) if (alive(p)) process.kill(p.pid, 'SIGKILL');
      await this.end;
    }
    fs.rmSync(this.root, { recursive: true, force: true });
  }
}

/** A test that looks at nothing that those beside it could slow down. */
const waiting = inBackground(async (body) => {
  const ends = [];
  try {
    await body({ after: (end) => ends.push(end) });
  } finally {
    for (const end of ends) await end();
  }
});

// ---- start, stop, files ----

test('start: ready in no time, one discovery file, sockets and logs are private', async (t) => {
  const d = await new Daemon(t).start();
  assert.ok(Date.now() - d.startedAt < 1000, `${Date.now() - d.startedAt} ms`);
  const file = path.join(d.dataDir, 'paiged.json');
  const found = JSON.parse(fs.readFileSync(file, 'utf8'));
  assert.deepEqual(Object.keys(found), ['pid', 'port', 'host', 'url', 'projectDir', 'startedAt', 'token']);
  assert.equal(found.pid, d.pid);
  assert.equal(found.projectDir, path.join(d.root, 'project'));
  assert.match(found.token, /^[0-9a-f]{64}$/);
  for (const name of [file, path.join(d.dataDir, 'logs', 'store.log'), path.join(d.dataDir, 'paiged.lock')]) assert.equal(fs.statSync(name).mode & 0o777, 0o600, name);
  const [runtime] = fs.readdirSync(path.join(d.root, 'run'));
  assert.match(runtime, /^paige-[0-9a-f]{16}$/);
  assert.equal(fs.statSync(path.join(d.root, 'run', runtime)).mode & 0o777, 0o700);
  assert.match(d.output, new RegExp(`ready: http://localhost:${found.port} \\(port ${found.port}\\), project ${d.root}/project`));
  for (const secret of [found.token, 'sk-secret-key']) {
    assert.equal(d.output.includes(secret), false);
    for (const name of ['paiged', ...WORKERS]) assert.equal(d.log(name).includes(secret), false, name);
  }
  await d.stop();
  assert.equal(fs.existsSync(file), false);
  assert.deepEqual(fs.readdirSync(path.join(d.root, 'run')), []);
});

test('start: both loopback addresses have the port, which stays open while the gateway is away', async (t) => {
  const d = await new Daemon(t, { modes: { gateway: 'exit 1' } });
  d.launch();
  const { port } = JSON.parse(await until(() => {
    const file = path.join(d.dataDir, 'paiged.json');
    return fs.existsSync(file) && fs.readFileSync(file, 'utf8');
  }, 'the discovery file'));
  for (const host of ['127.0.0.1', '::1']) {
    const socket = net.connect(port, host);
    await new Promise((resolve, reject) => socket.on('connect', resolve).on('error', reject));
    socket.destroy();
  }
  d.mode('gateway', 'ok');
  await until(() => d.output.includes('Paige is ready'), 'ready after all');
  await d.stop();
  await assert.rejects(new Promise((resolve, reject) => net.connect(port, '127.0.0.1').on('connect', resolve).on('error', reject)), /ECONNREFUSED/);
});

test('start: a port that is taken, on either address, is EADDRINUSE and 1', async (t) => {
  for (const host of ['127.0.0.1', '::1']) {
    const blocker = net.createServer();
    await new Promise((resolve) => blocker.listen(0, host, resolve));
    const { port } = blocker.address();
    const d = new Daemon(t, { env: { PORT: String(port) } }).launch();
    await d.end;
    assert.equal(d.ended.code, 1);
    assert.match(d.output, /EADDRINUSE/);
    assert.match(d.output, new RegExp(`\\b${port}\\b`));
    assert.equal(fs.existsSync(path.join(d.dataDir, 'logs')), false, 'nothing was set up');
    assert.deepEqual(fs.readdirSync(path.join(d.root, 'run')), []);
    await new Promise((resolve) => blocker.close(resolve));
  }
});

test('start: a worker that cannot work with the configuration ends the daemon with 1 and its last words', async (t) => {
  const d = new Daemon(t, { modes: { store: 'exit 78' } }).launch();
  await until(() => d.ended, 'it ends');
  assert.equal(d.ended.code, 1);
  assert.match(d.output, /store cannot work: exit code 78/);
  assert.match(d.output, /last words of store/);
  assert.equal(d.output.includes('Paige is ready'), false);
  assert.equal(fs.existsSync(path.join(d.dataDir, 'paiged.json')), false);
});

test('start: a program that is missing, or is none, ends the daemon with 1 and the reason', async (t) => {
  for (const [damage, reason] of [[(file) => fs.rmSync(file), /No such file/], [(file) => fs.writeFileSync(file, 'nonsense'), /Exec format error/]]) {
    const d = new Daemon(t);
    damage(d.program('observer'));
    d.launch();
    await until(() => d.ended, 'it ends');
    assert.equal(d.ended.code, 1);
    assert.match(d.output, /observer cannot work: could not be started/);
    assert.match(d.output, reason);
  }
});

test('start: a signal at any moment ends with 0 and leaves nothing', async (t) => {
  for (const delay of [0, 1, 2, 4, 8, 16, 32]) {
    const d = new Daemon(t, { modes: { llm: 'slow-start 300', store: 'slow-start 100' } }).launch();
    // Before the program has taken over its signals it is not the program that ends.
    await until(() => d.ended || /^SigBlk:\s*[0-9a-f]*4003$/m.test(fs.readFileSync(`/proc/${d.pid}/status`, 'utf8')), 'signals are taken');
    await sleep(delay);
    await d.stop(delay % 2 ? 'SIGINT' : 'SIGTERM');
    assert.equal(fs.existsSync(path.join(d.dataDir, 'paiged.json')), false);
    assert.deepEqual(fs.readdirSync(path.join(d.root, 'run')), []);
  }
});

test('check: problems are listed and nothing is made; a good configuration is 0', async (t) => {
  const good = new Daemon(t, { args: ['--check'] }).launch();
  await good.end;
  assert.deepEqual(good.ended, { code: 0, signal: null });
  const bad = new Daemon(t, { args: ['--check'], env: { PORT: '12abc', PROJECT_DIR: '' } }).launch();
  await bad.end;
  assert.equal(bad.ended.code, 1);
  for (const name of ['PORT', 'PROJECT_DIR']) assert.match(bad.output, new RegExp(`\\b${name}\\b`));
  assert.equal(bad.output.includes('ANTHROPIC_API_KEY'), false);
  for (const d of [good, bad]) assert.equal(fs.existsSync(d.dataDir), false);
  const wrong = new Daemon(t, { args: ['--no-such-option'] }).launch();
  await wrong.end;
  assert.equal(wrong.ended.code, 2);
});

// ---- what a worker gets ----

test('spawn: descriptors, signals, session and environment are as worker.h says', async (t) => {
  const d = await new Daemon(t, { modes: Object.fromEntries(WORKERS.map((name) => [name, 'audit'])), env: { PAIGE_TEST_X: 'x' } }).start();
  for (const name of WORKERS) {
    const lines = d.log(name).split('\n').filter((line) => line.startsWith('ts=audit ')).map((line) => line.slice(9));
    const fds = new Map(lines.filter((line) => line.startsWith('fd ')).map((line) => line.slice(3).split(' ')));
    assert.equal(fds.get('0'), '/dev/null', name);
    assert.match(fds.get('1'), /^pipe:/);
    assert.equal(fds.get('1'), fds.get('2'));
    assert.match(fds.get('3'), /^socket:/);
    assert.equal(fds.size, name === 'gateway' ? 6 : 4, `${name}: ${[...fds]}`);
    for (const field of ['SigBlk', 'SigIgn']) assert.ok(lines.includes(`${field}:\t0000000000000000`), `${name}: ${field} of ${lines.join('|')}`);
    assert.ok(lines.includes('session 1 group 1'));
    const env = Object.fromEntries(lines.filter((line) => line.startsWith('env ')).map((line) => line.slice(4).split(/=(.*)/s)));
    assert.equal(env.PAIGE_WORKER, name);
    assert.match(env.PAIGE_GENERATION, /^[0-9a-f]{16}$/);
    assert.match(env.PAIGE_EPOCH, /^[0-9a-f]{16}$/);
    assert.equal(env.DATA_DIR, d.dataDir);
    assert.equal(env.OBSERVER_MIN_CONFIDENCE, '0.7');
    assert.equal(env.MEMORY, 'embedded');
    assert.equal(env.PORT, String(JSON.parse(fs.readFileSync(path.join(d.dataDir, 'paiged.json'), 'utf8')).port));
    assert.equal(env.PAIGE_TEST_X, 'x');
    assert.equal(env.ANTHROPIC_API_KEY, name === 'llm' ? 'sk-secret-key' : undefined);
    assert.equal(env.GH_TOKEN, name === 'llm' ? 'gh-secret' : undefined);
    assert.equal('PAIGE_TOKEN' in env, name === 'gateway');
    assert.equal(env.PAIGE_LISTEN_FDS, name === 'gateway' ? '2' : undefined);
  }
  await d.stop();
});

test('packets: those of another generation, kind or shape are dropped; FLEET tells the gateway the truth', async (t) => {
  const d = await new Daemon(t, { modes: { observer: 'wrong-packets', store: 'status {"condition":"degraded","reason":"disk","detail":{"session":"abc"}}' } }).start();
  const fleets = () => d.log('gateway').split('\n').filter((line) => line.startsWith('ts=packet 102 ')).map((line) => JSON.parse(line.slice(14)));
  await until(() => fleets().at(-1)?.workers.every((w) => w.up), 'all are up');
  const store = await until(() => fleets().at(-1).workers.find((w) => w.name === 'store' && w.condition === 'degraded'), 'the condition of the store');
  assert.equal(store.reason, 'disk');
  assert.equal((await d.status()).session, 'abc');
  const old = d.worker('observer');
  process.kill(old.pid, 'SIGKILL');
  await until(() => fleets().some((f) => f.workers.some((w) => w.name === 'observer' && !w.up)), 'the fall is told');
  await until(() => fleets().at(-1).workers.some((w) => w.name === 'observer' && w.up && w.restarts === 1), 'the return is told');
  // A new gateway is told at once.
  const before = fleets().length;
  process.kill(d.worker('gateway').pid, 'SIGKILL');
  await until(() => fleets().length > before && fleets().at(-1).workers.every((w) => w.up), 'the new gateway knows');
  await d.stop();
});

// ---- restarts ----

test('crash: the first restart is at once, the others are left alone', async (t) => {
  const d = await new Daemon(t).start();
  const before = childrenOf(d.pid);
  const old = before.find((p) => p.name === 'store');
  const at = Date.now();
  process.kill(old.pid, 'SIGKILL');
  await until(() => d.count('store', 'msg="ready"') === 2 || d.count('store', 'msg=ready') === 2, 'READY again');
  assert.ok(Date.now() - at < 500, `${Date.now() - at} ms`);
  for (const p of before.filter((p) => p.name !== 'store')) assert.ok(alive(p), p.name);
  const { last_exit: exit, restarts } = await until(async () => {
    const w = await d.status('store');
    return w.last_exit && w;
  }, 'the exit is told');
  assert.deepEqual([exit.kind, exit.code, exit.signal, restarts], ['signal', 9, 'KILL', { total: 1, window_60s: 1 }]);
  await d.stop();
});

test('crash loop (hasty): pauses grow, it is never given up, and heals', async (t) => {
  const d = await new Daemon(t, { hasty: true }).start();
  d.mode('fswatch', 'exit 70');
  process.kill(d.worker('fswatch').pid, 'SIGKILL');
  await until(() => d.count('fswatch', 'last words of fswatch') >= 6, 'six deaths');
  const times = [...d.log('paiged').matchAll(/^ts=(\S+) .*msg="worker started" name=fswatch/gm)].map((m) => Date.parse(m[1]));
  const pauses = times.slice(2, 8).map((at, i) => at - times[i + 1]);
  // 25, 50, 100, ... ms, a fifth less or more; a busy machine only makes them longer.
  pauses.slice(1).forEach((pause, i) => assert.ok(pause >= (250 / HASTE) * 2 ** i * 0.8 - 2, `pause ${i}: ${pauses}`));
  const seen = await d.status('fswatch');
  assert.ok(['backoff', 'starting'].includes(seen.state), seen.state);
  assert.equal(seen.want, 'up');
  assert.equal((await d.ctl('status')).code, 1, 'a wanted worker is missing');
  d.mode('fswatch', 'ok');
  await until(async () => (await d.status('fswatch')).state === 'ready', 'it heals');
  assert.equal(d.ended, null);
  await d.stop();
});

test('exit 78: parked, not restarted, freed by paigectl restart and by SIGHUP', async (t) => {
  const d = await new Daemon(t).start();
  d.mode('observer', 'exit 78');
  process.kill(d.worker('observer').pid, 'SIGKILL');
  await until(async () => (await d.status('observer')).state === 'parked', 'parked');
  const deaths = d.count('observer', 'last words of observer');
  await sleep(700);
  assert.equal(d.count('observer', 'last words of observer'), deaths, 'left alone');
  const refused = await d.ctl('restart', 'observer');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /observer is parked: exit code 78/);
  d.mode('observer', 'ok');
  d.child.kill('SIGHUP');
  await until(async () => (await d.status('observer')).state === 'ready', 'freed by a reload');
  await d.stop();
});

test('a program that vanishes later is retried until it is back (hasty)', async (t) => {
  const d = await new Daemon(t, { hasty: true }).start();
  fs.renameSync(d.program('llm'), `${d.program('llm')}.away`);
  process.kill(d.worker('llm').pid, 'SIGKILL');
  const w = await until(async () => {
    const now = await d.status('llm');
    return now.state === 'backoff' && now.last_exit.kind === 'spawn' && now;
  }, 'the failed start is told');
  assert.match(w.last_exit.meaning, /No such file/);
  fs.renameSync(`${d.program('llm')}.away`, d.program('llm'));
  await until(async () => (await d.status('llm')).state === 'ready', 'it is back');
  await d.stop();
});

// ---- stopping ----

test('stop: in stages, the store last, each told by a packet', async (t) => {
  const d = await new Daemon(t).start();
  await d.stop();
  const order = [...d.log('paiged').matchAll(/msg="stopping worker" name=(\S+)/g)].map((m) => m[1]);
  assert.deepEqual(order, STOP_ORDER);
  assert.equal(order.at(-1), 'store');
  for (const name of WORKERS) assert.equal(d.count(name, 'ts=packet 100'), 1, name);
  assert.match(d.log('paiged'), /msg="shutting down" why="signal TERM from process \d+"/);
});

test('stop (hasty): one that hears nothing gets TERM, then KILL at the end of its grace', async (t) => {
  const d = await new Daemon(t, { hasty: true, modes: { store: 'ignore-all', observer: 'ignore-stop' } }).start();
  const at = Date.now();
  await d.stop();
  assert.ok(Date.now() - at >= 10000 / HASTE, 'the store had its grace');
  assert.match(d.log('store'), /TERM ignored/);
  assert.match(d.log('paiged'), /killing it" name=store/);
  assert.match(d.log('paiged'), /name=observer .*killed by signal 15/);
});

test('stop: a second signal hurries', async (t) => {
  const d = await new Daemon(t, { modes: { gateway: 'slow-stop 20000', store: 'ignore-all' } }).start();
  const at = Date.now();
  d.child.kill('SIGTERM');
  await sleep(200);
  d.child.kill('SIGTERM');
  await until(() => d.ended, 'it ends');
  assert.deepEqual(d.ended, { code: 0, signal: null });
  assert.ok(Date.now() - at < 3000, `${Date.now() - at} ms`);
});

/** The process that the stub of llm started, as its log tells. */
const grandchild = async (d) => Number((await until(() => d.log('llm').match(/ts=grandchild (\d+)\n/), 'its process'))[1]);

test('stop: what a worker started goes with it', async (t) => {
  const d = await new Daemon(t, { modes: { llm: 'child' } }).start();
  const pid = await grandchild(d);
  const p = stat(pid);
  assert.ok(alive(p));
  await d.stop();
  await until(() => !alive(p), 'the process of its group is gone', 1000);
});

test('what holds the stderr of a dead worker, in a session of its own, delays neither its successor nor the stop', async (t) => {
  const d = await new Daemon(t, { modes: { llm: 'grandchild' } }).start();
  const p = stat(await grandchild(d));
  t.after(() => alive(p) && process.kill(p.pid, 'SIGKILL'));
  d.mode('llm', 'ok');
  process.kill(d.worker('llm').pid, 'SIGKILL');
  await until(() => d.count('llm', 'msg="ready"') === 2, 'the successor writes to the same log');
  assert.ok(alive(p));
  const at = Date.now();
  await d.stop();
  assert.ok(Date.now() - at < 1500, `${Date.now() - at} ms`);
});

test('the supervisor is killed: its workers end within 3 s, the next start takes over lock and sockets', async (t) => {
  const d = await new Daemon(t, { modes: { store: 'ignore-all' } }).start();
  const family = childrenOf(d.pid);
  d.child.kill('SIGKILL');
  await d.end;
  // At once, with the old workers perhaps still there.
  d.mode('store', 'ok');
  await d.start();
  await until(() => !family.some(alive), 'the old ones are gone', 3500);
  assert.equal(JSON.parse(fs.readFileSync(path.join(d.dataDir, 'paiged.json'), 'utf8')).pid, d.pid);
  await d.stop();
});

test('a second daemon on the same DATA_DIR refuses, names the first, and does it no harm', async (t) => {
  const first = await new Daemon(t).start();
  const second = new Daemon(t, { dataDir: first.dataDir }).launch();
  await second.end;
  assert.equal(second.ended.code, 1);
  assert.match(second.output, new RegExp(`\\b${first.pid}\\b`));
  assert.equal(JSON.parse(fs.readFileSync(path.join(first.dataDir, 'paiged.json'), 'utf8')).pid, first.pid);
  assert.equal((await first.ctl('status')).code, 0);
  await first.stop();
});

const socketsOf = (d) => fs.readFileSync(path.join(d.dataDir, 'paiged.lock'), 'utf8').split('\n')[1];

test('the directory of the sockets is removed: it is made again, and all workers are restarted', async (t) => {
  const d = await new Daemon(t, { hasty: true }).start(); // it looks once in half a second
  const restarted = async (old) => {
    await until(async () => WORKERS.every((name) => d.worker(name)) && !old.some(alive), 'every worker is another process');
    await until(async () => (await d.ctl('status', '--json').then(({ stdout }) => stdout && JSON.parse(stdout).workers))?.every((w) => w.state === 'ready'), 'all are ready');
  };
  const first = socketsOf(d);
  let old = childrenOf(d.pid);
  fs.rmSync(first, { recursive: true });
  await restarted(old);
  assert.equal(socketsOf(d), first);
  assert.equal(fs.statSync(first).mode & 0o777, 0o700);
  // As a logout does: the directory it was in goes, too.
  old = childrenOf(d.pid);
  fs.rmSync(d.env.XDG_RUNTIME_DIR, { recursive: true });
  await restarted(old);
  const second = socketsOf(d);
  assert.match(second, /^\/tmp\/paige-\d+-[0-9a-f]{16}$/);
  const ended = childrenOf(d.pid)[0].pid;
  assert.match(fs.readFileSync(`/proc/${ended}/environ`, 'utf8'), new RegExp(`PAIGE_RUNTIME_DIR=${second}\0`));
  // The control socket alone.
  old = childrenOf(d.pid);
  fs.rmSync(path.join(second, 'ctl.sock'));
  await until(async () => (await d.ctl('status')).code === 0, 'paigectl reaches the daemon', 5000);
  assert.ok(old.every(alive), 'no worker was disturbed');
  await d.stop();
  assert.equal(fs.existsSync(second), false);
});

test('the name of the directory in /tmp is taken by somebody else: another one is used', async (t) => {
  const d = new Daemon(t);
  delete d.env.XDG_RUNTIME_DIR;
  await d.start();
  const usual = socketsOf(d);
  await d.stop();
  fs.writeFileSync(usual, 'not yours');
  t.after(() => fs.rmSync(usual));
  await d.start();
  const other = socketsOf(d);
  assert.match(other, new RegExp(`^${usual}-\\w{6}$`));
  assert.equal(fs.statSync(other).mode & 0o777, 0o700);
  assert.equal((await d.ctl('status')).code, 0);
  assert.equal(fs.readFileSync(usual, 'utf8'), 'not yours');
  await d.stop();
  assert.equal(fs.existsSync(other), false);
});

// ---- logs ----

/** Removes a directory of a daemon that runs, which makes a log anew when it has a line to write. */
function removeUnder(directory) {
  for (let tries = 10; ; tries -= 1) {
    try {
      fs.rmSync(directory, { recursive: true });
      return;
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' || tries === 0) throw error;
    }
  }
}

test('a second daemon on a DATA_DIR that was removed meanwhile leaves the sockets of the first alone', async (t) => {
  const first = await new Daemon(t).start();
  const { XDG_RUNTIME_DIR } = first.env;
  const [sockets] = fs.readdirSync(XDG_RUNTIME_DIR);
  const before = fs.readdirSync(path.join(XDG_RUNTIME_DIR, sockets)).sort();
  assert.ok(before.length > 0);
  removeUnder(first.dataDir);
  const second = new Daemon(t, { dataDir: first.dataDir, env: { XDG_RUNTIME_DIR } }).launch();
  await second.end;
  assert.equal(second.ended.code, 1);
  assert.match(second.output, /another paiged has its sockets in \S+: its DATA_DIR was removed/);
  assert.deepEqual(fs.readdirSync(path.join(XDG_RUNTIME_DIR, sockets)).sort(), before);
  assert.equal(first.ended, null);
  await first.stop();
});

test('logs: a flood is rotated within bounds and blocks nobody; a line without an end and a raw one are kept', async (t) => {
  const d = await new Daemon(t, { modes: { fswatch: 'flood 60', observer: 'raw' } }).start();
  const sizes = ['', '.1', '.2', '.3', '.4', '.5'].map((end) => path.join(d.dataDir, 'logs', `fswatch.log${end}`)).filter((name) => fs.existsSync(name)).map((name) => fs.statSync(name).size);
  assert.equal(sizes.length, 5, `${sizes}`);
  for (const size of sizes) assert.ok(size <= 10 * 1024 * 1024, `${sizes}`);
  assert.equal(d.count('observer', 'level=warn worker=observer msg="*** stack smashing detected ***: \\"quoted\\""'), 1);
  process.kill(d.worker('fswatch').pid, 'SIGKILL');
  await until(() => d.count('fswatch', 'no newline behind this') >= 1, 'the open line is closed by the death');
  await d.stop();
});

test('logs: a file that is deleted is made again with the next line, a directory too', async (t) => {
  const d = await new Daemon(t).start();
  removeUnder(path.join(d.dataDir, 'logs'));
  process.kill(d.worker('gateway').pid, 'SIGKILL');
  const file = path.join(d.dataDir, 'logs', 'gateway.log');
  await until(() => fs.existsSync(file) && /msg=\\?"?ready/.test(d.log('gateway')), 'it is back');
  await d.stop();
});

test('logs: a full disk drops lines, says so, and blocks nobody', { skip: process.getuid() !== 0 && 'needs the superuser' }, async (t) => {
  const d = new Daemon(t, { modes: { fswatch: 'flood 8' } });
  const logs = path.join(d.dataDir, 'logs');
  fs.mkdirSync(logs, { recursive: true, mode: 0o700 });
  const run = (command, args) => new Promise((resolve) => execFile(command, args, (error) => resolve(!error)));
  if (!(await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', logs]))) return t.skip('no mounting here');
  try {
    await d.start();
    const status = await d.status();
    assert.ok(status.log_lines_dropped > 1000, `${status.log_lines_dropped}`);
    assert.equal(status.workers.every((w) => w.state === 'ready'), true);
    await d.stop();
  } finally {
    if (d.child && !d.ended) await d.cleanUp();
    await run('umount', [logs]);
  }
});

// As systemd does it: JOURNAL_STREAM names the socket that is the standard error.
const AS_THE_JOURNAL = ['sh', '-c', 'JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2) exec "$0" "$@"'];
const PRIORITIES = { error: '<3>', warn: '<4>', info: '<6>', debug: '<7>' };

test('journal: every line has the priority of its level, those of the workers too', async (t) => {
  const d = new Daemon(t, { modes: { observer: 'raw' } });
  d.through = AS_THE_JOURNAL;
  await d.start();
  d.mode('observer', 'exit 78');
  process.kill(d.worker('observer').pid, 'SIGKILL');
  await until(() => d.output.includes('worker parked'), 'the observer is parked');
  await d.stop();
  const lines = d.output.split('\n').map((line) => line.match(/^(<\d>)?ts=\S+ level=(\w+) worker=(\S+) /)).filter(Boolean);
  for (const [line, priority, level] of lines) assert.equal(priority, PRIORITIES[level], line);
  assert.deepEqual([...new Set(lines.map((line) => line[2]))].sort(), ['error', 'info', 'warn']);
  assert.equal(lines.some((line) => line[3] === 'observer' && line[2] === 'warn'), true, 'what is no line of ours');
  assert.match(d.output, /^<6>ts=last words of observer/m);
});

test('journal: what it cannot take is counted, and nobody waits for it', async (t) => {
  const d = new Daemon(t, { modes: { fswatch: 'flood 8' } });
  d.through = AS_THE_JOURNAL;
  d.launch();
  d.child.stderr.pause();
  await until(() => d.output.includes('Paige is ready'), 'ready');
  assert.equal((await d.status()).workers.every((w) => w.state === 'ready'), true);
  d.child.stderr.resume();
  const missing = () => [...d.output.matchAll(/^<4>ts=\S+ level=warn worker=paiged msg="(\d+) lines are missing here: the journal was behind"$/gm)];
  await until(() => missing().reduce((sum, line) => sum + Number(line[1]), 0) > 1000, 'it is said');
  // Once it has taken what had gathered, nothing is missing any more.
  for (let i = 0, length = -1; i < 40 && length !== d.output.length; i++) {
    length = d.output.length;
    await sleep(250);
  }
  const end = d.output.length;
  process.kill(d.worker('gateway').pid, 'SIGKILL');
  await until(() => /^<6>ts=\S+ level=info worker=paiged msg="worker ready" name=gateway/m.test(d.output.slice(end)), 'and it goes on');
  assert.equal(d.output.split('\n').some((line) => line.startsWith('<6>ts=flood') && line.length !== 3 + 1023), false, 'no half line');
  await d.stop();
});

test('journal: a standard error of another kind has neither priorities nor the lines of workers', async (t) => {
  const d = await new Daemon(t, { modes: { observer: 'raw' }, env: { JOURNAL_STREAM: '1:1' } }).start();
  await d.stop();
  assert.match(d.output, /^ts=\S+ level=info worker=paiged/m);
  assert.equal(/^<\d>|worker=observer/m.test(d.output), false, d.output);
});

test('paigectl logs: merged by time, filtered, limited, and followed over a rotation', async (t) => {
  const d = await new Daemon(t).start();
  const all = await d.ctl('logs', '-n', '1000');
  assert.equal(all.code, 0);
  for (const name of ['paiged', ...WORKERS]) assert.ok(all.stdout.includes(`worker=${name} `), name);
  const times = all.stdout.trimEnd().split('\n').map((line) => line.match(/^ts=(\d{4}-\S+)/)?.[1]).filter(Boolean);
  assert.deepEqual(times, [...times].sort());
  assert.equal((await d.ctl('logs', 'paiged', '-n', '3')).stdout.trimEnd().split('\n').length, 3);
  assert.equal((await d.ctl('logs', 'paiged', '--level', 'error')).stdout, '');
  assert.equal((await d.ctl('logs', 'nobody')).code, 2);
  assert.equal((await d.ctl('logs', '-n', 'x')).code, 2);
  await d.stop();
  const at = (time, level, text) => `ts=2026-01-01T${time}.000Z level=${level} worker=llm msg=${text}`;
  fs.writeFileSync(path.join(d.dataDir, 'logs', 'llm.log.1'), `lost\n${at('09:59:59', 'info', 'a')}\n  more of a\n`);
  fs.writeFileSync(path.join(d.dataDir, 'logs', 'llm.log'), `${[at('10:00:00', 'info', 'b'), '  more of b', at('10:30:00', 'warn', 'b2'), at('11:00:00', 'info', 'c')].join('\n')}\n`);
  for (const [args, shown] of [
    [['--since', '2026-01-01T10:00'], [at('10:00:00', 'info', 'b'), '  more of b', at('10:30:00', 'warn', 'b2'), at('11:00:00', 'info', 'c')]],
    [['--until', '2026-01-01 10:00:00'], [at('09:59:59', 'info', 'a'), '  more of a']],
    [['--since=2026-01-01T09:59:59Z', '--until=2026-01-01T10:30', '--grep', 'msg=[ab]$'], [at('09:59:59', 'info', 'a'), at('10:00:00', 'info', 'b')]],
    [['--grep', 'more of (a|c)'], ['  more of a']],
    [['--grep', '^ts=.*b', '-n', '1'], [at('10:30:00', 'warn', 'b2')]],
    [['--since', '1m'], []],
  ])
    assert.deepEqual(await d.ctl('logs', 'llm', ...args), { code: 0, stdout: shown.map((line) => `${line}\n`).join(''), stderr: '' }, args.join(' '));
  for (const [args, text] of [
    [['--since=noon'], /^paigectl: --since=noon: a time of UTC such as /],
    [['--until=2026-02-30'], /^paigectl: --until=2026-02-30: a time of UTC such as /],
    [['--grep=('], /^paigectl: --grep=\(: not a regular expression: /],
    [['--until=1h', '-f'], /^paigectl: --until and --follow exclude each other$/m],
  ]) {
    const { code, stderr } = await d.ctl('logs', ...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, text);
  }
  await d.start();
  const follower = spawn(PAIGECTL, ['logs', '-f', '-n', '0', 'store'], { env: d.env });
  t.after(() => follower.kill());
  let seen = '';
  follower.stdout.setEncoding('utf8').on('data', (text) => (seen += text));
  const file = path.join(d.dataDir, 'logs', 'store.log');
  await until(() => {
    fs.appendFileSync(file, 'ts=2026-01-01T00:00:00.000Z level=info worker=store msg=early\n'); // it may not look yet
    return seen.includes('msg=early');
  }, 'it follows');
  fs.appendFileSync(file, 'ts=2026-01-01T00:00:00.000Z level=info worker=store msg=one\n');
  await until(() => seen.includes('msg=one'), 'the first line');
  fs.renameSync(file, `${file}.1`);
  fs.appendFileSync(`${file}.1`, 'ts=2026-01-01T00:00:00.000Z level=info worker=store msg=two\n');
  fs.writeFileSync(file, 'ts=2026-01-01T00:00:00.000Z level=info worker=store msg=three\n');
  await until(() => seen.includes('msg=three'), 'the line in the new file');
  assert.equal(seen.split('\n').filter(Boolean).map((line) => line.match(/msg=(\w+)/)[1]).filter((word) => word !== 'early').join(), 'one,two,three');
  await d.stop();
});

// ---- control ----

test('paigectl list shows every daemon; without DATA_DIR the only one that is ours is meant', async (t) => {
  // As a unit does it: --config names the settings, and the environment DATA_DIR.
  const conf = (d, file) => {
    fs.writeFileSync(path.join(d.root, file), `PROJECT_DIR=${d.root}/project\n`);
    return path.join(d.root, file);
  };
  const first = new Daemon(t);
  first.args = ['--config', conf(first, 'first.conf')];
  await first.start();
  const second = await new Daemon(t).start();
  const listed = JSON.parse((await first.ctl('list', '--json')).stdout).daemons;
  for (const d of [first, second]) {
    const { pid, port, project_dir, state, user } = listed.find((entry) => entry.data_dir === d.dataDir);
    assert.deepEqual({ pid, state, user }, { pid: d.pid, state: 'running', user: os.userInfo().username });
    assert.equal(port, (await d.status()).port);
    assert.equal(project_dir, path.join(d.root, 'project'));
  }
  const table = (await first.ctl('list')).stdout.trimEnd().split('\n');
  assert.match(table[0], /^USER +UNIT +PORT +STATE +PROJECT +DATA_DIR$/);
  // Other daemons of this machine may come and go meanwhile.
  for (const d of [first, second]) assert.equal(table.filter((line) => line.split(/ +/).includes(String(listed.find((entry) => entry.pid === d.pid).port))).length, 1, table.join('\n'));
  for (const line of table) assert.ok(line.length <= 80, line);

  // The one of a file, however that is spelt, and none for another file.
  const { DATA_DIR: _, PROJECT_DIR: __, ...bare } = first.env;
  const stranger = { env: bare, root: first.root };
  const asked = (...args) => Daemon.prototype.ctl.call(stranger, ...args);
  const found = await asked('status', '--json', '--config', '../first.conf');
  assert.equal(JSON.parse(found.stdout).pid, first.pid, found.stderr);
  assert.equal((await asked('status', '--config', conf(second, 'other.conf'))).code, 3);
  // Several: refused, and both are named.
  const several = await asked('status');
  assert.equal(several.code, 1);
  for (const d of [first, second]) assert.ok(several.stderr.includes(`DATA_DIR=${d.dataDir}  (`), several.stderr);
  // One that hangs is not waited for long, and said to be silent.
  process.kill(second.pid, 'SIGSTOP');
  const silent = JSON.parse((await first.ctl('list', '--json')).stdout).daemons.filter((entry) => entry.state === 'silent');
  assert.equal(silent.some((entry) => entry.runtime_dir.startsWith(path.join(second.root, 'run'))), true, JSON.stringify(silent));
  process.kill(second.pid, 'SIGCONT');
  await first.stop();
  await second.stop();
});

test('paigectl status, restart, config, stop and their exit codes', async (t) => {
  const d = await new Daemon(t).start();
  const before = childrenOf(d.pid);
  const status = await d.status();
  assert.equal(status.pid, d.pid);
  for (const w of status.workers) {
    assert.equal(w.pid, d.worker(w.name).pid);
    assert.ok(w.rss_bytes > 0 && w.uptime_ms >= 0 && w.cpu_percent >= 0);
    assert.deepEqual([w.state, w.want, w.restarts.total, w.last_exit], ['ready', 'up', 0, null]);
  }
  const plain = await d.ctl('status');
  assert.equal(plain.code, 0);
  assert.doesNotMatch(plain.stdout, /\u001b/);
  assert.equal((await d.ctl('restart', 'llm')).code, 0);
  assert.equal(alive(before.find((p) => p.name === 'llm')), false);
  for (const p of before.filter((p) => p.name !== 'llm')) assert.ok(alive(p), p.name);
  assert.equal((await d.ctl('restart')).code, 0);
  assert.equal(before.some(alive), false);
  assert.equal((await d.ctl('restart', 'nobody')).code, 2);
  for (const args of [['nonsense'], ['status', '--nonsense'], ['status', 'x'], [], ['logs', '--level'], ['restart', 'store', 'llm']]) assert.equal((await d.ctl(...args)).code, 2, args.join(' '));
  const config = await d.ctl('config');
  assert.match(config.stdout, /^ANTHROPIC_API_KEY=\*{8}$/m);
  assert.equal(config.stdout.includes('sk-secret-key'), false);
  const doctor = await d.ctl('doctor');
  assert.match(doctor.stdout, /^(fine|note) +gh/m);
  const mine = d.env;
  d.env = { ...mine, PROJECT_DIR: undefined, ANTHROPIC_API_KEY: undefined };
  const other = await d.ctl('doctor');
  d.env = mine;
  assert.match(other.stdout, /^fine +settings +all values are valid, as the running daemon has them$/m);
  assert.equal(other.stdout.includes('sk-secret-key'), false);
  const family = childrenOf(d.pid);
  assert.equal((await d.ctl('stop')).code, 0);
  await until(() => d.ended, 'it has ended');
  assert.deepEqual(d.ended, { code: 0, signal: null });
  assert.deepEqual(family.filter(alive), []);
  for (const args of [['status'], ['restart', 'store'], ['stop']]) assert.equal((await d.ctl(...args)).code, 3, args.join(' '));
  assert.equal((await d.ctl('config')).code, 0, 'the settings of a daemon that is not running');
  assert.equal((await d.ctl('logs')).code, 0);
});

test('control socket: wrong, long and slow requests harm nobody', async (t) => {
  const d = await new Daemon(t).start();
  const socket = path.join((await d.status()).runtime_dir, 'ctl.sock');
  const ask = (text) => new Promise((resolve) => {
    const c = net.connect(socket, () => c.write(text));
    let answer = '';
    c.on('data', (data) => (answer += data)).on('close', () => resolve(answer)).on('error', () => resolve(answer));
  });
  assert.match(await ask('nonsense\n'), /"error":/);
  assert.match(await ask('{"command":"explode"}\n'), /"error":"request\.command/);
  assert.match(await ask('{"command":"restart","worker":"nobody"}\n'), /"error":"there is no worker/);
  assert.equal(await ask('x'.repeat(10000)), '');
  for (let i = 0; i < 40; i += 1) net.connect(socket).on('error', () => {}).unref();
  await sleep(50);
  const started = Date.now();
  for (;;) {
    // The silent ones fill the table until their time is up; nothing else may suffer from it.
    const { code } = await d.ctl('logs', '-n', '1');
    assert.equal(code, 0);
    if (Date.now() - started > 100) break;
  }
  assert.equal(d.ended, null);
  await d.stop();
});

// ---- settings while running ----

test('SIGHUP: what may change is sent, other changes restart the workers, wrong settings change nothing', async (t) => {
  const d = new Daemon(t, { env: { LOG_LEVEL: undefined, IDLE_TIMEOUT_MS: undefined } });
  for (const key of Object.keys(d.env)) if (d.env[key] === undefined) delete d.env[key];
  const dotenv = (text) => fs.writeFileSync(path.join(d.root, 'cwd', '.env'), text);
  await d.start();
  const family = childrenOf(d.pid);
  dotenv('LOG_LEVEL=debug\n');
  d.child.kill('SIGHUP');
  await until(() => WORKERS.every((name) => d.count(name, '"LOG_LEVEL":"debug"') === 1), 'RELOAD packets');
  assert.ok(family.every(alive));
  dotenv('LOG_LEVEL=loud\nIDLE_TIMEOUT_MS=5\n');
  d.child.kill('SIGHUP');
  await until(() => d.log('paiged').includes('reload refused'), 'refused');
  assert.ok(family.every(alive));
  assert.match((await d.ctl('config')).stdout, /^LOG_LEVEL=debug$/m);
  dotenv('IDLE_TIMEOUT_MS=5\nPORT=1\n');
  delete d.env.PORT; // from now on paigectl alone; the daemon has its own
  d.child.kill('SIGHUP');
  await until(() => !family.some(alive), 'all are restarted');
  await until(async () => (await d.status()).workers.every((w) => w.state === 'ready'), 'and ready');
  assert.match((await d.ctl('config')).stdout, /^IDLE_TIMEOUT_MS=5$/m);
  await d.stop();
});

test('paigectl reload tells what has changed, restarts what must be, and shows every problem', async (t) => {
  const d = await new Daemon(t).start();
  const dotenv = (text) => fs.writeFileSync(path.join(d.root, 'cwd', '.env'), text);
  const lines = (answer) => {
    assert.deepEqual([answer.code, answer.stderr], [0, '']);
    return answer.stdout.replace(/after \d+ ms/, 'after N ms').trimEnd().split('\n');
  };
  const family = childrenOf(d.pid);
  assert.deepEqual(lines(await d.ctl('reload')), ['settings read again, none has changed; ready after N ms']);
  dotenv('MODEL_SONNET=some-model\n');
  assert.deepEqual(lines(await d.ctl('reload')), ['settings read again, some have changed; ready after N ms', '  changed: MODEL_SONNET']);
  assert.ok(family.every(alive), 'informed, not restarted');
  dotenv('IDLE_TIMEOUT_MS=soon\nLOG_LEVEL=loud\n');
  const wrong = await d.ctl('reload');
  assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
  assert.match(wrong.stderr, /^paigectl: the settings are wrong, so the old ones stay:\n/);
  for (const name of ['IDLE_TIMEOUT_MS', 'LOG_LEVEL']) assert.ok(wrong.stderr.includes(name), wrong.stderr);
  assert.ok(family.every(alive));
  dotenv('IDLE_TIMEOUT_MS=5\n');
  const [, changed, restarted] = lines(await d.ctl('reload'));
  assert.match(changed, /^ {2}changed: .*IDLE_TIMEOUT_MS/);
  assert.deepEqual(restarted.replace('  restarted: ', '').split(', ').sort(), [...WORKERS].sort());
  assert.equal(family.some(alive), false);
  assert.equal((await d.ctl('status')).code, 0, 'it has waited until all are ready');

  // A worker that is parked afterwards is a failure; one that is parked now is started again.
  d.mode('observer', 'exit 78');
  process.kill(d.worker('observer').pid, 'SIGKILL');
  await until(async () => (await d.status('observer')).state === 'parked', 'parked');
  const parked = await d.ctl('reload');
  assert.equal(parked.code, 1);
  assert.match(parked.stderr, /^paigectl: observer is parked: exit code 78/);
  d.mode('observer', 'ok');
  assert.deepEqual(lines(await d.ctl('reload')), ['settings read again, none has changed; ready after N ms', '  restarted: observer']);
  await d.stop();
  assert.equal((await d.ctl('reload')).code, 3);
});

test('paigectl wait: its exit code says what became of the daemon', async (t) => {
  const d = new Daemon(t);
  const timed = async (...args) => {
    const began = Date.now();
    return { ...(await d.ctl('wait', ...args)), ms: Date.now() - began };
  };
  const absent = await timed('--timeout', '1');
  assert.equal(absent.code, 3);
  assert.match(absent.stderr, /^paigectl: not ready within 1 s: no daemon is running on /);
  assert.ok(absent.ms >= 1000, `${absent.ms} ms`);
  assert.equal((await timed('--timeout=0')).code, 3);
  for (const wrong of ['x', '-1', '86401', '', '1.5']) {
    const { code, stderr } = await d.ctl('wait', `--timeout=${wrong}`);
    assert.deepEqual([code, stderr], [2, `paigectl: --timeout=${wrong}: a whole number from 0 to 86400\n`]);
  }

  // It is there before the daemon.
  const early = d.ctl('wait', '--ready');
  await d.start();
  assert.deepEqual(await early, { code: 0, stdout: `ready: ${(await d.status()).url}\n`, stderr: '' });
  assert.equal((await d.ctl('wait', '--timeout', '0')).code, 0);

  process.kill(d.worker('llm').pid, 'SIGSTOP');
  assert.equal((await d.ctl('wait', '--timeout', '0')).code, 0, 'silent for a moment is ready');
  process.kill(d.worker('llm').pid, 'SIGCONT');
  d.mode('observer', 'exit 1');
  process.kill(d.worker('observer').pid, 'SIGKILL');
  await until(async () => (await d.status('observer')).state !== 'ready', 'it is away');
  const late = await timed('--timeout', '1');
  assert.equal(late.code, 4);
  assert.match(late.stderr, /^paigectl: not ready within 1 s: the daemon is running, observer is (backoff|starting)$/m);
  d.mode('observer', 'ok');
  assert.equal((await d.ctl('wait', '--timeout', '60')).code, 0, 'it came back');
  d.mode('observer', 'exit 78');
  process.kill(d.worker('observer').pid, 'SIGKILL');
  await until(async () => (await d.status('observer')).state !== 'ready', 'its end is noticed');
  const parked = await timed('--timeout', '30');
  assert.equal(parked.code, 1);
  assert.match(parked.stderr, /^paigectl: observer is parked: exit code 78.*run `paigectl restart observer`$/m);
  assert.ok(parked.ms < 20000, 'at once');
  await d.stop();
});

test('systemd: READY, STATUS, WATCHDOG and STOPPING are told', async (t) => {
  const d = new Daemon(t);
  const socket = path.join(d.root, 'notify');
  const listener = spawn('python3', ['-c', 'import socket,sys\ns=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)\ns.bind(sys.argv[1])\nprint("up",flush=True)\nwhile True: print(s.recv(4096).decode(),flush=True)', socket]);
  t.after(() => listener.kill());
  let told = '';
  listener.stdout.setEncoding('utf8').on('data', (text) => (told += text));
  listener.on('error', () => (told = 'none'));
  await until(() => told, 'a listener');
  if (told === 'none') return t.skip('no python3 for a datagram socket');
  Object.assign(d.env, { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '2000000' });
  await d.start();
  await until(() => told.includes('READY=1') && told.includes('STATUS=6 of 6 workers are ready'), 'READY and STATUS');
  await until(() => told.includes('WATCHDOG=1'), 'WATCHDOG');
  d.child.kill('SIGHUP');
  await until(() => told.includes('RELOADING=1'), 'RELOADING');
  await d.stop();
  await until(() => told.includes('STOPPING=1'), 'STOPPING');
});

// ---- what waits, beside all of the above: watchdog, many restarts ----

waiting('never READY (hasty): aborted with a backtrace, and started again', async (t) => {
  const d = new Daemon(t, { hasty: true, modes: { observer: 'never-ready' } }).launch();
  await until(() => d.log('paiged').includes('name=observer'), 'it is started');
  await sleep(100);
  d.mode('observer', 'ok');
  await until(() => d.log('observer').includes('backtrace of the abort'), 'the abort');
  await until(() => d.output.includes('Paige is ready'), 'ready');
  await d.stop();
});

waiting('watchdog (hasty): first a backtrace is asked for, then it is aborted, and replaced', async (t) => {
  const d = await new Daemon(t, { hasty: true, modes: { store: 'hang' } }).start();
  const old = d.worker('store');
  d.mode('store', 'ok');
  await until(() => d.log('store').includes('backtrace asked for'), 'USR2');
  assert.equal(d.log('store').includes('backtrace of the abort'), false, 'not at the same time');
  await until(() => d.log('store').includes('backtrace of the abort'), 'ABRT');
  await until(async () => (await d.status('store')).state === 'ready', 'replaced');
  assert.equal(alive(old), false);
  await d.stop();
});

waiting('watchdog (hasty): one that is stopped, and one that ignores ABRT, are ended too', async (t) => {
  const d = await new Daemon(t, { hasty: true, modes: { observer: 'hang-hard' } }).start();
  const stopped = d.worker('fswatch');
  const hard = d.worker('observer');
  d.mode('observer', 'ok');
  process.kill(stopped.pid, 'SIGSTOP');
  const silent = (line) => line.startsWith('ts=packet 102 ') && JSON.parse(line.slice(14)).workers.some((w) => w.name === 'fswatch' && w.up && w.condition === 'failing' && w.reason === 'it gives no sign of life');
  const silences = [];
  await until(async () => {
    const { state, condition, reason } = await d.status('fswatch');
    if (state === 'ready' && condition === 'failing' && reason === 'it gives no sign of life') silences.push(condition);
    return silences.length > 0 && d.log('gateway').split('\n').some(silent);
  }, 'the gateway is told of the silence, and status says the same');
  await until(() => !alive(stopped) && !alive(hard), 'both are ended');
  await until(async () => (await d.status()).workers.every((w) => w.state === 'ready'), 'both are replaced');
  assert.match(d.log('paiged'), /did not end in time: killing it" name=observer/);
  await d.stop();
});

waiting('watchdog (hasty): nobody is shot when it was the supervisor that slept', async (t) => {
  const d = await new Daemon(t, { hasty: true }).start();
  const family = childrenOf(d.pid);
  for (const p of [d.child, ...family]) process.kill(p.pid, 'SIGSTOP');
  await sleep(4000);
  for (const p of [d.child, ...family]) process.kill(p.pid, 'SIGCONT');
  await until(() => d.log('paiged').includes('did not run for a while'), 'it noticed');
  await sleep(300);
  assert.deepEqual(family.filter((p) => !alive(p)), []);
  await d.stop();
});

waiting('200 deaths: no descriptor and no memory is lost (hasty)', async (t) => {
  const d = await new Daemon(t, { hasty: true }).start();
  const fds = () => fs.readdirSync(`/proc/${d.pid}/fd`).length;
  const memory = () => Number(fs.readFileSync(`/proc/${d.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]);
  const before = fds();
  let grown = 0;
  for (let i = 0; i < 200; i += 1) {
    const name = WORKERS[i % WORKERS.length];
    // An operator's restart has no pause, a death has one.
    if (i % 4) await d.ctl('restart', name);
    else process.kill((await until(() => d.worker(name), name)).pid, 'SIGKILL');
    if (i === 40) grown = memory();
  }
  await until(async () => (await d.status()).workers.every((w) => w.state === 'ready'), 'all are back');
  await until(() => fds() === before, `descriptors: ${before}, now ${fds()}`);
  assert.ok(memory() - grown < 1024, `${grown} KiB, then ${memory()} KiB`);
  await d.stop();
});
