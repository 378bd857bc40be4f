// database.test.mjs - what can happen to the database while the daemon runs, seen from outside: pinned, full, damaged.
// Nothing is lost that can be kept, /health tells the truth, and what is over is over.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Sqlite, coached, logged, tabs } from './lib/database.mjs';
import { scenario } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const QUICK = Boolean(process.env.PAIGE_QUICK);
const LIMIT = 16 * 1024 * 1024; // of the write-ahead log (workers/store/db/wal.h)

const health = async (daemon) => (await daemon.get('/health')).json;
const becomes = (daemon, status, ms = 60000) => until(`/health says ${status}`, async () => {
  const answer = await daemon.get('/health');
  return answer.json.status === status && answer;
}, { ms, every: 50 });

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
    return t.skip('needs to mount a small file system');
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

scenario('a key of the MCP sessions that is none is made anew', async (t) => {
  for (const key of ['\0'.repeat(64), 'g'.repeat(64), '0'.repeat(63)]) {
    const dataDir = t.directory('key');
    const file = path.join(dataDir, 'mcp-sessions');
    fs.writeFileSync(file, `${key}\n`, { mode: 0o600 });
    const daemon = await t.daemon({ dataDir });
    await becomes(daemon, 'ok');
    assert.match(fs.readFileSync(file, 'utf8'), /^[0-9a-f]{64}\n/, JSON.stringify(key));
    await t.release(daemon);
  }
});
