// A start that cannot succeed: paiged says what is wrong, with what and what to do, changes nothing, and ends at once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { Daemon } from './lib/daemon.mjs';
import { Editor } from './lib/editor.mjs';
import { descendants } from './lib/processes.mjs';
import { scratch, smallProject } from './lib/project.mjs';

/** A stop of all workers in their order took 6 s. */
const AT_ONCE_MS = process.env.ASAN_OPTIONS ? 6000 : 2000;
const LEFT = 'It was left as it is. Restore it from a backup, or move it away to start anew.';
const sqlite = (file, sql) => execFileSync('sqlite3', [file, sql], { stdio: 'ignore' });

/** Each: what, how it is brought about (in DATA_DIR; may give settings), what is said, whether nothing but a person can mend it. */
const REFUSALS = [
  ['a database that is none', (dir) => fs.writeFileSync(path.join(dir, 'paige.db'), 'nonsense'.repeat(1000)), ['paige.db is damaged: it does not begin like an SQLite database', LEFT], true],
  ['a database that is damaged behind its header', (dir) => {
    const fd = fs.openSync(path.join(dir, 'paige.db'), 'r+');
    fs.writeSync(fd, Buffer.alloc(8192, 0x5a), 0, 8192, 4096);
    fs.closeSync(fd);
  }, ['paige.db is damaged', LEFT], true, 'used'],
  ['a database of a newer Paige', (dir) => sqlite(path.join(dir, 'paige.db'), 'PRAGMA user_version = 999'), ['paige.db cannot be used: it was made by a later version of Paige (schema 999, this one knows ', LEFT], true, 'used'],
  ['a database of another program', (dir) => sqlite(path.join(dir, 'paige.db'), 'CREATE TABLE x (a)'), ['paige.db cannot be used: it is not a paige.db of Paige but the database of another program', LEFT], true],
  ['a FIFO in the place of the database', (dir) => execFileSync('mkfifo', [path.join(dir, 'paige.db')]), ['paige.db is damaged: it is not a regular file', LEFT], true],
  ['a directory in the place of the database', (dir) => fs.mkdirSync(path.join(dir, 'paige.db')), ['paige.db is damaged: it is not a regular file', LEFT], true],
  ['a DATA_DIR that cannot be made', () => ({ DATA_DIR: '/proc/paige' }), ['DATA_DIR=/proc/paige cannot be made or written', 'Give it a directory of your own'], false],
  ['a file in the place of DATA_DIR', (dir) => ({ DATA_DIR: path.join(dir, 'file', 'below') }), ['DATA_DIR', 'Not a directory'], true],
  ['a wrong setting', () => ({ PORT: '12abc' }), ['PORT="12abc" (environment): must be a whole number from 0 to 65535'], true],
  ['a project that is not there', () => ({ PROJECT_DIR: '/nowhere/at/all' }), ['PROJECT_DIR', '/nowhere/at/all'], true],
];

/** {code, ms, said} of a start with these settings. */
async function start(t, dataDir, env) {
  const daemon = new Daemon({ projectDir: smallProject(), dataDir, env });
  t.after(() => {
    daemon.endNow();
    fs.rmSync(daemon.projectDir, { recursive: true, force: true });
    daemon.removeScratch();
  });
  const began = performance.now();
  await assert.rejects(daemon.start(), /the daemon ended at its start/);
  const ms = performance.now() - began;
  assert.deepEqual(descendants(daemon.pid), []);
  return { code: daemon.end.code, ms, said: daemon.output };
}

for (const [what, arrange, texts, final, used] of REFUSALS) {
  test(`refused: ${what}`, { timeout: 60000 }, async (t) => {
    const dataDir = scratch('data');
    t.after(() => fs.rmSync(dataDir, { recursive: true, force: true }));
    fs.writeFileSync(path.join(dataDir, 'file'), '');
    if (used) {
      const before = new Daemon({ projectDir: smallProject(), dataDir });
      await before.start();
      await before.stop();
      before.removeScratch();
      fs.rmSync(before.projectDir, { recursive: true });
    }
    const env = arrange(dataDir) ?? {};
    const db = path.join(dataDir, 'paige.db');
    const content = () => (fs.existsSync(db) && fs.statSync(db).isFile() ? fs.readFileSync(db, 'base64') : null);
    const kept = content();
    // By hand, and as a service, which must not be started again for what only a person can mend.
    for (const [service, code] of [[{}, 1], [{ NOTIFY_SOCKET: '/nowhere/notify' }, final ? 78 : 1]]) {
      const end = await start(t, dataDir, { ...env, ...service });
      assert.equal(end.code, code, end.said);
      for (const text of texts) assert.ok(end.said.includes(text), `${text}\n${end.said}`);
      t.diagnostic(`${Math.round(end.ms)} ms`);
      assert.ok(end.ms < AT_ONCE_MS, `${Math.round(end.ms)} ms`);
      assert.equal(content(), kept, 'the database is as it was');
    }
  });
}

// What is not needed to work holds nobody up: a FIFO keeps whoever opens it waiting until somebody else does.
for (const file of ['api-calls', 'mcp-sessions', 'guard.db', 'memory.db', 'token']) {
  test(`a FIFO in the place of ${file} keeps nobody waiting`, { timeout: 60000 }, async (t) => {
    const dataDir = scratch('data');
    execFileSync('mkfifo', [path.join(dataDir, file)]);
    const daemon = new Daemon({ projectDir: smallProject(), dataDir });
    t.after(() => {
      daemon.endNow();
      for (const dir of [dataDir, daemon.projectDir]) fs.rmSync(dir, { recursive: true, force: true });
      daemon.removeScratch();
    });
    await daemon.start();
    const editor = await Editor.connect(daemon);
    editor.send('session:start', { issueNumber: 1 });
    await editor.next('session:started', { ms: 3000 });
    editor.close();
    await daemon.stop();
  });
}

test('the units do not start a service again that ended with 78', () => {
  for (const name of ['paiged', 'paiged-user']) {
    const unit = fs.readFileSync(new URL(`../../config/${name}.service.in`, import.meta.url), 'utf8');
    assert.match(unit, /^Restart=on-failure$/m);
    assert.match(unit, /^RestartPreventExitStatus=78$/m);
  }
});
