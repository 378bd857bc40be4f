// postgres.mjs - a PostgreSQL of its own in a temporary directory, as an ordinary user, that can be killed and started anew.
import { execFile, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { selfSigned } from './certificate.mjs';
import { freePort } from './ports.mjs';
import { descendants, signal } from './processes.mjs';
import { until } from './wait.mjs';

const run = promisify(execFile);
const BASE = '/usr/lib/postgresql';
const release = fs.existsSync(BASE) ? fs.readdirSync(BASE).filter((name) => fs.existsSync(path.join(BASE, name, 'bin', 'initdb'))).sort((a, b) => b - a)[0] : undefined;

/** Why there can be none, or false. */
export const WITHOUT_POSTGRES = release ? false : 'PostgreSQL is not installed, which Debian would start at once: apt-get install postgresql';

/** PostgreSQL does not run as root. */
const NOBODY = 65534;
const asOther = process.getuid() === 0 ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
const program = (name) => path.join(BASE, release, 'bin', name);

export class Postgres {
  /** `directory` is the caller's to remove. The database is `class`, its owner `owner`. */
  static async make(directory) {
    const server = new Postgres();
    server.data = path.join(directory, 'cluster');
    server.port = await freePort();
    fs.mkdirSync(server.data, { mode: 0o700 });
    fs.chmodSync(directory, 0o755);
    if (asOther.length) fs.chownSync(server.data, NOBODY, NOBODY);
    const [first, ...rest] = [...asOther, program('initdb'), '-D', server.data, '-U', 'owner', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'];
    execFileSync(first, rest, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] }); // its errors stand in what is thrown
    fs.appendFileSync(path.join(server.data, 'postgresql.conf'), `listen_addresses = '127.0.0.1'\nport = ${server.port}\nunix_socket_directories = ''\nmax_connections = 100\nlog_min_messages = fatal\n`);
    await server.start();
    await server.sql('CREATE DATABASE class', { database: 'postgres' });
    return server;
  }

  async start() {
    // Behind setpriv: what is preloaded begins as the other user.
    const [first, ...rest] = [...asOther, 'env', ...Object.entries(this.env ?? {}).map(([name, value]) => `${name}=${value}`), program('postgres'), '-D', this.data];
    this.child = spawn(first, rest, { cwd: '/', stdio: 'ignore' });
    this.ended = new Promise((resolve) => this.child.once('exit', resolve));
    await until('PostgreSQL answers', () => this.sql('SELECT 1', { database: 'postgres' }), { every: 50 });
  }

  /** Started anew, with these lines at the end of its configuration and these variables of the environment. */
  async startAnew({ settings = [], env = {} }) {
    await this.stop();
    fs.appendFileSync(path.join(this.data, 'postgresql.conf'), settings.map((line) => `${line}\n`).join(''));
    this.env = env;
    await this.start();
  }

  /** Speaks TLS from now on, with a certificate for `name` that signs itself; gives its file. */
  async useTls(name) {
    const [key, file] = ['server.key', 'server.crt'].map((entry) => path.join(this.data, entry));
    selfSigned(name, key, file);
    if (asOther.length) for (const entry of [key, file]) fs.chownSync(entry, NOBODY, NOBODY);
    fs.chmodSync(key, 0o600);
    const kept = path.join(path.dirname(this.data), 'ca.crt');
    fs.copyFileSync(file, kept);
    await this.startAnew({ settings: ['ssl = on'] });
    return { file: kept };
  }

  /** All of its processes at once, as a loss of power has it, but for what the kernel has been given. */
  async kill9() {
    const family = descendants(this.child.pid);
    this.child.kill('SIGKILL');
    for (const one of family) signal(one, 'SIGKILL');
    await this.ended;
  }

  async stop() {
    this.child.kill('SIGINT');
    await this.ended;
  }

  close() {
    if (this.child.exitCode === null && this.child.signalCode === null) this.kill9();
  }

  url(role = 'owner') {
    return `postgresql://${role}@127.0.0.1:${this.port}/class`;
  }

  /** Rows of a query, each an array of texts; throws what psql says. */
  async sql(query, { role = 'owner', database = 'class' } = {}) {
    const args = ['-X', '-q', '-A', '-t', '-F', '\t', '-v', 'ON_ERROR_STOP=1', '-h', '127.0.0.1', '-p', `${this.port}`, '-U', role, '-d', database, '-c', query];
    const { stdout } = await run(program('psql'), args, { cwd: '/', maxBuffer: 256 * 1024 * 1024, env: { ...process.env, PGCONNECT_TIMEOUT: '10' } });
    return stdout.split('\n').filter(Boolean).map((line) => line.split('\t'));
  }

  /** The schema, as whoever owns the database makes it, and a role for each learner. */
  async prepare(mirror, learners) {
    await this.sql(execFileSync(mirror, ['--schema'], { encoding: 'utf8' }));
    for (const name of learners) await this.sql(`CREATE ROLE ${name} LOGIN; GRANT paige_learner TO ${name}`);
  }
}
