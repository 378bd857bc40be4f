// paigectl backup: a whole, checked copy while editors write; nothing is overwritten, nothing is left behind.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { PAIGED } from './lib/daemon.mjs';
import { ended, signal } from './lib/processes.mjs';
import { exchange, request } from './lib/raw-http.mjs';
import { scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const PAIGECTL = path.join(path.dirname(PAIGED), 'paigectl');
const run = promisify(execFile);

/** {code, out, error} of paigectl backup. */
async function backup(daemon, ...args) {
  const env = { ...daemon.env, http_proxy: 'http://127.0.0.1:1' };
  return new Promise((resolve) => {
    execFile(PAIGECTL, ['backup', ...args], { env, cwd: daemon.root }, (error, out, text) => resolve({ code: error?.code ?? 0, out, error: text }));
  });
}

const copies = (daemon) => (fs.existsSync(path.join(daemon.dataDir, 'backups')) ? fs.readdirSync(path.join(daemon.dataDir, 'backups')) : []);

async function count(file, query) {
  const { stdout } = await run('sqlite3', ['-readonly', file, query]);
  return Number(stdout);
}

/** A session in which an editor keeps switching tabs. */
async function busy(context, daemon) {
  const editor = await context.editor(daemon);
  editor.send('session:start', { issueNumber: 1 });
  await editor.next('session:started');
  let sent = 0;
  const timer = setInterval(() => {
    for (let i = 0; i < 20; i += 1) editor.send('editor:tab_switch', { toPath: `file${(sent += 1)}.ts` });
  }, 5);
  return { sent: () => sent, stop: () => clearInterval(timer) };
}

scenario('a copy is made, checked and taken away while an editor writes', async (context) => {
  const daemon = await context.daemon();
  const work = await busy(context, daemon);
  await until('some rows', () => work.sent() > 400);
  const file = path.join(context.directory('copy'), 'copy.db');
  const { code, out, error } = await backup(daemon, file);
  assert.equal(code, 0, error);
  assert.match(out, /copy\.db: .* checked/);
  assert.equal((await run('sqlite3', [file, 'PRAGMA integrity_check'])).stdout.trim(), 'ok');
  assert.ok((await count(file, "SELECT count(*) FROM action_log WHERE action_type = 'tab_switch'")) > 100);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['copy.db'], 'no log, no half file');
  assert.deepEqual(copies(daemon), []);
  work.stop();
  await daemon.logged('tab_switch', work.sent());

  // Nothing is overwritten unasked.
  const before = fs.readFileSync(file);
  const refused = await backup(daemon, file);
  assert.equal(refused.code, 1);
  assert.match(refused.error, /exists; use --force/);
  assert.deepEqual(fs.readFileSync(file), before);
  assert.equal((await backup(daemon, '--force', file)).code, 0);
  assert.equal(await count(file, "SELECT count(*) FROM action_log WHERE action_type = 'tab_switch'"), work.sent());
});

scenario('a daemon goes on from a copy that is put in the place of its database', async (context) => {
  const daemon = await context.daemon();
  const work = await busy(context, daemon);
  await until('some rows', () => work.sent() > 100);
  work.stop();
  await daemon.logged('tab_switch', work.sent());
  assert.equal((await backup(daemon, 'saved.db')).code, 0, 'relative to where paigectl runs');
  const dataDir = context.directory('data');
  fs.copyFileSync(path.join(daemon.root, 'saved.db'), path.join(dataDir, 'paige.db'));
  const second = await context.daemon({ dataDir });
  assert.equal((await second.actions('tab_switch')).length, work.sent());
});

scenario('copies that nobody took within a day are removed before the next one', async (context) => {
  const daemon = await context.daemon();
  const dir = path.join(daemon.dataDir, 'backups');
  const hoursAgo = (hours) => Date.now() / 1000 - hours * 3600;
  fs.mkdirSync(dir);
  for (const [name, hours] of [['old.db', 25], ['young.db', 23], ['half.db.part', 0]]) {
    fs.writeFileSync(path.join(dir, name), 'x');
    fs.utimesSync(path.join(dir, name), hoursAgo(hours), hoursAgo(hours));
  }
  const { code, error } = await backup(daemon, path.join(context.directory('copy'), 'copy.db'));
  assert.equal(code, 0, error);
  assert.deepEqual(copies(daemon), ['young.db']);
});

scenario('what cannot be done is said, with the exit codes of paigectl', async (context) => {
  const daemon = await context.daemon();
  const usage = await backup(daemon);
  assert.equal(usage.code, 2);
  assert.match(usage.error, /needs the name of a FILE/);
  const nowhere = await backup(daemon, '/nowhere/at/all.db');
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.error, /cannot write \/nowhere\/at\/all\.db: No such file/);
  const folder = await backup(daemon, daemon.dataDir);
  assert.equal(folder.code, 1);
  assert.match(folder.error, /is a directory/);
  assert.deepEqual(copies(daemon), [], 'a copy that found no place is not left behind');
  await daemon.stop();
  const late = await backup(daemon, path.join(daemon.root, 'late.db'));
  assert.equal(late.code, 3);
  assert.match(late.error, /no daemon is running/);
});

scenario('several copies at once are made one after the other', async (context) => {
  const daemon = await context.daemon();
  const work = await busy(context, daemon);
  await until('some rows', () => work.sent() > 200);
  const dir = context.directory('copies');
  const old = daemon.worker('store');
  const files = [1, 2, 3, 4].map((n) => path.join(dir, `${n}.db`));
  for (const { code, error } of await Promise.all(files.map((file) => backup(daemon, file)))) assert.equal(code, 0, error);
  for (const file of files) assert.equal((await run('sqlite3', [file, 'PRAGMA integrity_check'])).stdout.trim(), 'ok');
  work.stop();
  assert.equal(daemon.worker('store').pid, old.pid);
  assert.deepEqual(copies(daemon), []);
});

scenario('POST /backup keeps the rules of access and takes nothing but JSON', async (context) => {
  const daemon = await context.daemon();
  assert.equal((await exchange(daemon, request(daemon, 'GET', '/backup'))).status, 405);
  const foreign = { headers: { Origin: 'http://evil.example' }, body: '{}' };
  assert.equal((await exchange(daemon, request(daemon, 'POST', '/backup', foreign))).status, 403);
  const form = ['POST /backup HTTP/1.1', `Host: 127.0.0.1:${daemon.port}`, 'Connection: close', 'Content-Type: text/plain', 'Content-Length: 2', '', '{}'].join('\r\n');
  assert.equal((await exchange(daemon, form)).status, 415);
  assert.deepEqual(copies(daemon), []);
  const made = await exchange(daemon, request(daemon, 'POST', '/backup', { body: '{}' }));
  assert.equal(made.status, 200);
  const { path: file, bytes } = JSON.parse(made.body);
  assert.equal(fs.statSync(file).size, bytes);
  assert.equal(path.dirname(file), path.join(daemon.dataDir, 'backups'));
  assert.equal(fs.statSync(path.dirname(file)).mode & 0o777, 0o700);
});

scenario('a store that is killed in the middle costs time, not the copy', async (context) => {
  const daemon = await context.daemon();
  const file = path.join(context.directory('copy'), 'copy.db');
  // Half a copy of an earlier life.
  fs.mkdirSync(path.join(daemon.dataDir, 'backups'), { mode: 0o700, recursive: true });
  fs.writeFileSync(path.join(daemon.dataDir, 'backups', 'old.db.part'), 'half');
  signal(daemon.worker('store'), 'SIGSTOP');
  const child = spawn(PAIGECTL, ['backup', file], { env: daemon.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (data) => (text += data));
  const end = ended(child);
  await new Promise((done) => setTimeout(done, 300));
  const old = await daemon.kill9('store');
  assert.equal((await end).code, 0, text);
  await daemon.replaced('store', old);
  assert.equal((await run('sqlite3', [file, 'PRAGMA integrity_check'])).stdout.trim(), 'ok');
  assert.deepEqual(copies(daemon), [], 'half a copy is cleared away');
});
