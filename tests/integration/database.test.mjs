// database.test.mjs - what can happen to the database while the daemon runs, seen from outside: locked, pinned, full, damaged.
// Nothing is lost that can be kept, /health tells the truth, and what is over is over.
import { strict as assert } from 'node:assert';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { scenario } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const QUICK = Boolean(process.env.PAIGE_QUICK);
const LIMIT = 16 * 1024 * 1024; // of the write-ahead log (workers/store/db/wal.h)

const health = async (daemon) => (await daemon.get('/health')).json;
const becomes = (daemon, status, ms = 15000) => until(`/health says ${status}`, async () => {
  const answer = await daemon.get('/health');
  return answer.json.status === status && answer;
}, { ms, every: 50 });

async function coached(t, options) {
  const daemon = await t.daemon(options);
  const editor = await t.editor(daemon);
  await editor.ask('session:start', { issueNumber: 1 }, 'session:started');
  return { daemon, editor };
}

const tabs = (editor, from, to) => {
  for (let i = from; i < to; i += 1) editor.send('editor:tab_switch', { fromPath: 'a', toPath: `${i}` });
};
const logged = async (daemon) => (await daemon.actions('tab_switch')).map((row) => Number(row.data.toPath));
const upTo = (n) => Array.from({ length: n }, (_, i) => i);

/** Another process that has the database open and does as it is told. */
class Sqlite {
  constructor(file) {
    this.child = spawn('sqlite3', [file], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.text = '';
    this.child.stdout.setEncoding('utf8').on('data', (text) => (this.text += text));
    this.n = 0;
  }

  async run(sql) {
    this.n += 1;
    this.child.stdin.write(`${sql};\nSELECT 'done ${this.n}';\n`);
    await until(`sqlite3 to have run ${sql}`, () => this.text.includes(`done ${this.n}\n`), { every: 10 });
  }

  close() {
    this.child.stdin.end();
    this.child.kill();
  }
}

scenario('a lock of three seconds: everything waits, nothing is lost, and pings are answered', async (t) => {
  const { daemon, editor } = await coached(t);
  const other = t.closeLater(new Sqlite(path.join(daemon.dataDir, 'paige.db')));
  await other.run('BEGIN IMMEDIATE');
  const began = Date.now();
  let slowest = 0;
  let sent = 0;
  for (let n = 0; Date.now() - began < 3000; n += 10) {
    tabs(editor, n, n + 10);
    const asked = Date.now();
    await new Promise((resolve) => {
      editor.socket.once('pong', resolve);
      editor.socket.ping();
    });
    assert.equal((await daemon.get('/health')).status, 200);
    slowest = Math.max(slowest, Date.now() - asked);
    await sleep(50);
    sent = n + 10;
  }
  assert.deepEqual(await logged(daemon), [], 'it was locked all the time');
  await other.run('COMMIT');
  await until('all rows', async () => (await logged(daemon)).length >= sent, { every: 50 });
  assert.deepEqual(await logged(daemon), upTo(sent));
  assert.ok(slowest < 1000, `an answer took ${slowest} ms`);
  // Each has the time at which it happened, not that of the lock's end.
  const [{ spread }] = await daemon.sql("SELECT (julianday(max(created_at)) - julianday(min(created_at))) * 86400 AS spread FROM action_log WHERE action_type = 'tab_switch'");
  assert.ok(spread > 2, `${spread} s between the first and the last`);
});

scenario('a reader that stays is told, and the log shrinks after it (R32)', async (t) => {
  const { daemon, editor } = await coached(t);
  const log = path.join(daemon.dataDir, 'paige.db-wal');
  const reader = t.closeLater(new Sqlite(path.join(daemon.dataDir, 'paige.db')));
  const rows = QUICK ? 60000 : 200000;
  await reader.run('BEGIN; SELECT count(*) FROM sessions');
  for (let n = 0; n < rows; n += 2000) {
    tabs(editor, n, n + 2000);
    while (editor.socket.bufferedAmount > 4e6) await sleep(5);
  }
  await until('all rows', async () => {
    const [{ n }] = await daemon.sql("SELECT count(*) AS n FROM action_log WHERE action_type = 'tab_switch'");
    return n === rows;
  }, { ms: 60000, every: 200 });
  assert.ok(fs.statSync(log).size > LIMIT);
  await becomes(daemon, 'degraded');
  assert.match((await daemon.get('/metrics')).text, /store/);
  assert.match(daemon.everythingWritten(), /keeps reading/);
  await reader.run('COMMIT');
  reader.close();
  await until('the log within its limit', () => fs.statSync(log).size <= LIMIT, { ms: 30000, every: 100 });
  await becomes(daemon, 'ok');
});

scenario('damage while running makes /health 503 and stops all writing (R33)', async (t) => {
  const { daemon, editor } = await coached(t);
  const file = path.join(daemon.dataDir, 'paige.db');
  tabs(editor, 0, 10);
  await until('ten rows', async () => (await logged(daemon)).length === 10);
  await daemon.sql('PRAGMA wal_checkpoint(TRUNCATE)');
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, Buffer.alloc(4096, 0xa5), 0, 4096, 2 * 4096);
  fs.closeSync(fd);
  await until('/health to be 503', async () => (await daemon.get('/health')).status === 503, { every: 100 });
  const before = fs.readFileSync(file);
  tabs(editor, 10, 20);
  await sleep(300);
  assert.ok(fs.readFileSync(file).equals(before), 'nothing is written any more');
});

scenario('a full disk makes /health 503, nothing half-done, and all is well when there is room again', async (t) => {
  const dataDir = t.directory('full');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m,mode=700', 'tmpfs', dataDir], { stdio: 'ignore' });
  } catch {
    console.log('  (left out: needs to mount a small file system)');
    return;
  }
  try {
    const { daemon, editor } = await coached(t, { dataDir });
    tabs(editor, 0, 10);
    await until('ten rows', async () => (await logged(daemon)).length === 10);
    const filler = path.join(dataDir, 'filler');
    const fd = fs.openSync(filler, 'w');
    try {
      for (;;) fs.writeSync(fd, Buffer.alloc(4096));
    } catch (error) {
      assert.equal(error.code, 'ENOSPC');
    }
    fs.closeSync(fd);
    // The log may still have room of its own, so more than fits is sent.
    let sent = 10;
    for (; (await daemon.get('/health')).status === 200; sent += 1) {
      assert.ok(sent < 210, 'the disk never became full');
      editor.send('editor:tab_switch', { fromPath: 'x'.repeat(8000), toPath: '999999' });
      await sleep(20);
    }
    for (let n = 0; n < 40; n += 1) editor.send('editor:tab_switch', { fromPath: 'while it is full', toPath: '999999' });
    editor.send('user:idle_start');
    await sleep(500);
    assert.deepEqual(editor.of('connection:error'), [], 'activities are not refused one by one');
    assert.equal(daemon.everythingWritten().match(/activities wait in memory/g).length, 1, 'it is said once');
    assert.match(JSON.stringify(await health(daemon)), /degraded|failing/);
    assert.match(daemon.everythingWritten(), /paige\.db failed: database or disk is full/);
    assert.deepEqual(await daemon.sql('PRAGMA quick_check'), [{ quick_check: 'ok' }]);
    fs.unlinkSync(filler);
    await becomes(daemon, 'ok');
    const kept = sent + 40;
    await until('all that was done meanwhile', async () => (await logged(daemon)).length === kept);
    tabs(editor, 10, 20);
    await until('ten more rows', async () => (await logged(daemon)).length === kept + 10);
    assert.deepEqual(await daemon.sql('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    await t.release(daemon, editor);
  } finally {
    execFileSync('umount', ['-l', dataDir]);
  }
});

scenario('the key of the MCP sessions cannot be read: /health tells, and all is well when it can', async (t) => {
  const dataDir = t.directory('key');
  fs.mkdirSync(path.join(dataDir, 'mcp-sessions'));
  const daemon = await t.daemon({ dataDir });
  await becomes(daemon, 'degraded');
  const status = JSON.parse((await daemon.ctl('status', '--json')).stdout);
  assert.match(status.workers.find((w) => w.name === 'gateway').reason, /mcp-sessions: Not a regular file/);
  assert.ok(daemon.everythingWritten().match(/key of the MCP sessions was not given/g).length <= 2, 'it is said once');
  fs.rmdirSync(path.join(dataDir, 'mcp-sessions'));
  await becomes(daemon, 'ok');
});
