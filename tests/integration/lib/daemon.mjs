// daemon.mjs - starts the real paiged with directories of its own, looks at it from outside, kills its workers, stops it.
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { alive, children, descendants, ended, signal } from './processes.mjs';
import { scratch } from './project.mjs';
import { PATIENCE_MS, brief, until, within } from './wait.mjs';
import { WORKERS } from './workers.mjs';

const run = promisify(execFile);

export const PAIGED = process.env.PAIGED ?? fileURLToPath(new URL('../../../build/supervisor/paiged', import.meta.url));
const PAIGECTL = path.join(path.dirname(PAIGED), 'paigectl');

export { WORKERS };

/** A stop may take what the supervisor grants its workers (their stop stages in workers.def), but not more. */
const STOP_MS = 40000;

/** Workers leave within 3 s when the supervisor is gone (proto/worker.h); the rest is for a busy machine. */
const ORPHAN_MS = 6000;

const SANITIZER = /^.*((ERROR|WARNING): (Address|Leak|Thread)Sanitizer|runtime error: ).*$/m;

export class Daemon {
  /** options: projectDir, dataDir (both required), env: settings on top; undefined takes one away; args: on the command line; descriptors: how many a process may have; paiged: another program than PAIGED. */
  constructor({ projectDir, dataDir, env = {}, args = [], descriptors, paiged = PAIGED }) {
    this.command = [...(descriptors ? ['prlimit', `--nofile=${descriptors}`] : []), paiged, ...args];
    this.projectDir = projectDir;
    this.dataDir = dataDir;
    this.extraEnv = env;
    this.root = scratch('run'); // home, current directory, runtime directory
    this.output = '';
  }

  /** Gives the daemon once it is ready, within `ms`. */
  async start({ ms = PATIENCE_MS } = {}) {
    for (const name of ['home', 'cwd', 'runtime']) fs.mkdirSync(path.join(this.root, name), { recursive: true, mode: 0o700 });
    this.env = {
      PATH: process.env.PATH,
      HOME: path.join(this.root, 'home'),
      XDG_RUNTIME_DIR: path.join(this.root, 'runtime'),
      LANG: 'C.UTF-8',
      PORT: '0',
      PROJECT_DIR: this.projectDir,
      DATA_DIR: this.dataDir,
      ANTHROPIC_API_KEY: 'test-key',
      // Nothing listens there: a call to the model fails at once and never leaves the machine.
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      ...(process.env.ASAN_OPTIONS && { ASAN_OPTIONS: process.env.ASAN_OPTIONS }),
      ...(process.env.UBSAN_OPTIONS && { UBSAN_OPTIONS: process.env.UBSAN_OPTIONS }),
      ...this.extraEnv,
    };
    for (const [name, value] of Object.entries(this.env)) if (value === undefined) delete this.env[name];
    this.child = spawn(this.command[0], this.command.slice(1), { cwd: path.join(this.root, 'cwd'), env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr]) stream.setEncoding('utf8').on('data', (text) => (this.output += text));
    this.end = null;
    this.discovery = null;
    this.ended = new Promise((resolve) => {
      const settle = (end) => resolve((this.end = end));
      this.child.once('error', (error) => settle({ error: error.message }));
      this.child.once('exit', (code, byName) => settle({ code, signal: byName }));
    });
    const read = ended(this.child);
    await until('GET /ready answers 200', async () => {
      if (this.end) return true;
      this.discovery ??= this.#readDiscovery();
      return this.discovery && (await this.get('/ready')).status === 200;
    }, { ms });
    if (this.end && !this.end.error) await read;
    if (this.end) throw new Error(`the daemon ended at its start: ${brief(this.end)}\n${this.output}`);
    return this;
  }

  #readDiscovery() {
    const found = JSON.parse(fs.readFileSync(path.join(this.dataDir, 'paiged.json'), 'utf8'));
    return found.pid === this.child.pid ? found : null;
  }

  get pid() {
    return this.child.pid;
  }

  get port() {
    return this.discovery.port;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The token as it is now. */
  token() {
    return fs.readFileSync(path.join(this.dataDir, 'token'), 'utf8').trim();
  }

  /** {status, text, json} of a GET. */
  async get(target, { ms = 5000 } = {}) {
    const answer = await fetch(this.url + target, { signal: AbortSignal.timeout(ms) });
    const text = await answer.text();
    let json;
    try {
      json = JSON.parse(text);
    } catch {
      // not every path answers JSON
    }
    return { status: answer.status, text, json };
  }

  /** Waits until every worker is up and /health says ok. */
  healthy(ms = PATIENCE_MS) {
    return until('/health is ok with every worker up', async () => {
      const { status, json } = await this.get('/health');
      return status === 200 && json.status === 'ok' && WORKERS.every((name) => json.workers[name] === 'up');
    }, { ms, every: 50 });
  }

  /** The process of a worker now, or undefined. */
  worker(name) {
    return children(this.pid).find((entry) => entry.name === `paige-${name}`);
  }

  /** Ends a worker as a crash would, as soon as there is one; gives the process that died. */
  async kill9(name) {
    const victim = await until(`a process paige-${name}`, () => this.worker(name), { every: 2 });
    signal(victim, 'SIGKILL');
    return victim;
  }

  /** Waits until another process than `old` does the work of a worker and all is well again. */
  async replaced(name, old) {
    await until(`a new paige-${name}`, () => {
      const now = this.worker(name);
      return now && (now.pid !== old.pid || now.start !== old.start);
    });
    await this.healthy();
  }

  /** Rows of a query on a database in DATA_DIR, by the sqlite3 program. */
  async sql(query, database = 'paige.db') {
    const args = ['-json', '-cmd', '.timeout 5000', path.join(this.dataDir, database), query];
    const { stdout } = await run('sqlite3', args, { maxBuffer: 256 * 1024 * 1024 });
    return stdout.trim() === '' ? [] : JSON.parse(stdout);
  }

  /** Rows of the action log of one type, in order, with `data` as an object. */
  async actions(type) {
    const rows = await this.sql(`SELECT * FROM action_log WHERE action_type = '${type}' ORDER BY created_at, rowid`);
    return rows.map((row) => ({ ...row, data: JSON.parse(row.data) }));
  }

  /** Waits until `count` rows of a type are in the action log and gives all of them. */
  logged(type, count = 1) {
    return until(`${count} rows of ${type} in action_log`, async () => {
      const rows = await this.actions(type);
      return rows.length >= count && rows;
    }, { every: 60 });
  }

  /** {code, stdout, stderr} of paigectl. */
  async ctl(...args) {
    try {
      return { code: 0, ...(await run(PAIGECTL, args, { env: this.env, cwd: path.join(this.root, 'cwd'), timeout: PATIENCE_MS })) };
    } catch (error) {
      if (typeof error.code !== 'number') throw error;
      return { code: error.code, stdout: error.stdout, stderr: error.stderr };
    }
  }

  /** Stops it as an operator would: exit code 0, no process left, no sanitizer report. */
  async stop() {
    if (this.end === null) {
      const family = descendants(this.pid);
      this.child.kill('SIGTERM');
      await within('the end of the daemon after SIGTERM', STOP_MS, this.ended);
      await until('the end of every worker', () => !family.some(alive), { ms: 5000 });
    }
    if (this.end.code !== 0) throw new Error(`the daemon ended with ${brief(this.end)}\n${this.tail()}`);
    const report = this.everythingWritten().match(SANITIZER);
    if (report) throw new Error(`a sanitizer reported: ${report[0]}`);
  }

  /** Kills the supervisor as a crash would: its workers must notice and leave by themselves. */
  async die() {
    const family = descendants(this.pid);
    this.child.kill('SIGKILL');
    await this.ended;
    await until('the end of every worker after the supervisor was killed', () => !family.some(alive), { ms: ORPHAN_MS });
    this.end = { code: 0, killed: true };
  }

  /** Ends everything at once; for after failures. */
  endNow() {
    if (!this.child || this.end) return;
    const family = descendants(this.pid);
    this.child.kill('SIGKILL');
    for (const entry of family) signal(entry, 'SIGKILL');
  }

  removeScratch() {
    fs.rmSync(this.root, { recursive: true, force: true });
  }

  #logs() {
    const dir = path.join(this.dataDir, 'logs');
    if (!fs.existsSync(dir)) return [];
    return fs.readdirSync(dir).map((name) => [name, fs.readFileSync(path.join(dir, name), 'utf8')]);
  }

  /** What a worker has logged, without what was rotated away. */
  log(worker) {
    return fs.readFileSync(path.join(this.dataDir, 'logs', `${worker}.log`), 'utf8');
  }

  /** Waits until a worker's log says `words`, a text or a pattern: a line reaches the file a moment after what it tells of. */
  says(worker, words) {
    const fits = (text) => (typeof words === 'string' ? text.includes(words) : words.test(text));
    return until(`the log of ${worker} says ${words}`, () => fits(this.log(worker)));
  }

  everythingWritten() {
    return [this.output, ...this.#logs().map(([, text]) => text)].join('\n');
  }

  /** The last lines of everything it wrote, for messages about failures. */
  tail(lines = 25) {
    const last = (text) => text.split('\n').slice(-lines).join('\n');
    return [`--- paiged ---\n${last(this.output)}`, ...this.#logs().map(([name, text]) => `--- ${name} ---\n${last(text)}`)].join('\n');
  }
}
