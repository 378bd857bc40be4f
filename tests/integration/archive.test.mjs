// paigectl restore, export and import: what comes is checked, what was there is kept, and whatever is killed leaves the old or the new.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { contents, ctl, PAIGECTL, sqlite } from './lib/data.mjs';
import { Guard } from './lib/guard.mjs';
import { alive, descendants } from './lib/processes.mjs';
import { scenario } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const KILLS = 12;

const issues = (file) => sqlite(file, 'SELECT group_concat(issue_number) FROM (SELECT issue_number FROM sessions ORDER BY issue_number)');

async function session(editor, issueNumber) {
  editor.send('session:start', { issueNumber });
  await editor.next('session:started');
}

scenario('a backup is put in place, and what was there is kept; what cannot be used changes nothing', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  await session(editor, 1);
  const copy = path.join(t.directory('copies'), 'copy.db');
  assert.equal((await daemon.ctl('backup', copy)).code, 0);
  await session(editor, 2);
  const running = await daemon.ctl('restore', copy);
  assert.deepEqual(running, { code: 1, stdout: '', stderr: `paigectl: the daemon (process ${daemon.pid}) uses ${daemon.dataDir}; stop it first: \`paigectl stop\`\n` });
  await daemon.stop();

  const before = contents(daemon.dataDir);
  const bad = (name, make) => {
    const file = path.join(path.dirname(copy), name);
    make(file);
    return file;
  };
  const changed = (sql) => (file) => {
    fs.copyFileSync(copy, file);
    sqlite(file, sql);
  };
  for (const [file, why] of [
    [bad('none.db', () => {}), /none\.db does not exist, or is empty/],
    [bad('empty.db', (file) => fs.writeFileSync(file, '')), /empty\.db does not exist, or is empty/],
    [bad('text.db', (file) => fs.writeFileSync(file, 'a text '.repeat(1000))), /text\.db is damaged/],
    [bad('cut.db', (file) => fs.writeFileSync(file, fs.readFileSync(copy).subarray(0, 20000))), /cut\.db is damaged: its end is missing/],
    [bad('page.db', (file) => fs.writeFileSync(file, fs.readFileSync(copy).fill(0xa5, 8192, 16384))), /page\.db is damaged/],
    [bad('foreign.db', (file) => sqlite(file, 'CREATE TABLE t(x); INSERT INTO t VALUES (1)')), /it is not a paige\.db of Paige but the database of another program/],
    [bad('later.db', changed('PRAGMA user_version = 999')), /it was made by a later version of Paige \(schema 999/],
    [bad('column.db', changed('ALTER TABLE sessions RENAME COLUMN issue_title TO title')), /issue_title/],
  ]) {
    const answer = await ctl(daemon, daemon.dataDir, 'restore', file);
    assert.equal(answer.code, 1, file);
    assert.match(answer.error, why);
    assert.deepEqual(contents(daemon.dataDir), before, file);
  }
  assert.match((await ctl(daemon, daemon.dataDir, 'restore')).error, /restore needs the name of a FILE/);

  const { code, out, error } = await ctl(daemon, daemon.dataDir, 'restore', copy);
  assert.equal(code, 0, error);
  const kept = out.match(/every page checked; what was there is in (.*)\n$/)[1];
  assert.equal(issues(path.join(kept, 'paige.db')), '1,2');
  assert.equal(issues(path.join(daemon.dataDir, 'paige.db')), '1');
  const again = await t.daemon({ dataDir: daemon.dataDir, projectDir: daemon.projectDir });
  assert.equal((await again.sql('SELECT count(*) AS n FROM sessions'))[0].n, 1);
  const next = await t.editor(again);
  await session(next, 3);
});

scenario('a learner moves to another machine as one file', async (t) => {
  const daemon = await t.daemon({ env: { MEMORY: 'embedded' } });
  const editor = await t.editor(daemon);
  await session(editor, 1);
  await Guard.create(daemon, 'session-guard', 'one', { timeboxMs: 3600000, codingQuestion: 'Write a cache.' });
  editor.send('file:open', { path: 'README.md' });
  await editor.next('fs:content');
  editor.send('buffer:update', { path: 'README.md', content: 'not saved\n' });
  await daemon.logged('file_open');
  const unsaved = async (mcp) => (await mcp.ok('paige_get_session_state', { include: ['buffers'] })).buffers.find((b) => b.path === 'README.md')?.content;
  const mcp = await t.mcp(daemon);
  await until('the unsaved text', async () => (await unsaved(mcp)) === 'not saved\n');
  const file = path.join(t.directory('export'), 'learner');
  assert.match((await daemon.ctl('export', file)).stderr, /uses .*; stop it first/);
  await daemon.stop();

  const exported = await ctl(daemon, daemon.dataDir, 'export', file);
  assert.deepEqual([exported.code, exported.error], [0, '']);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['learner'], 'nothing half is left');
  assert.ok(!fs.readFileSync(file).includes(fs.readFileSync(path.join(daemon.dataDir, 'token'))), 'the token stays');
  const names = execFileSync('sqlite3', [file, '-At'], { encoding: 'utf8' }).split('\n');
  for (const name of ['paige.db', 'guard.db', 'memory.db', 'buffers']) assert.ok(names.includes(name), `${name} in ${names}`);
  assert.match((await ctl(daemon, daemon.dataDir, 'export', file)).error, /exists; use --replace to replace it/);
  assert.equal((await ctl(daemon, daemon.dataDir, 'export', file, '--replace')).code, 0);

  const other = path.join(t.directory('other'), 'data');
  assert.equal((await ctl(daemon, other, 'import', file)).code, 0);
  const twice = await ctl(daemon, other, 'import', file);
  assert.deepEqual([twice.code, twice.error], [1, `paigectl: ${other} has a learner already (paige.db); use --replace to put this one in its place\n`]);
  const moved = await t.daemon({ dataDir: other, projectDir: daemon.projectDir, env: { MEMORY: 'embedded' } });
  assert.notEqual(moved.token(), fs.readFileSync(path.join(daemon.dataDir, 'token'), 'utf8').trim());
  assert.deepEqual((await moved.sql('SELECT issue_number FROM sessions')).map((row) => row.issue_number), [1]);
  assert.equal((await moved.get('/guards/session-guard/one')).status, 200);
  const window = await t.editor(moved);
  assert.equal(await unsaved(await t.mcp(moved)), 'not saved\n');
  await session(window, 2);
  await moved.stop();

  fs.writeFileSync(path.join(other, 'mirror-consent'), '{"allowed":false}', { mode: 0o600 });
  const replaced = JSON.parse((await ctl(daemon, other, 'import', file, '--replace', '--json')).out);
  assert.deepEqual([fs.existsSync(path.join(other, 'mirror-consent')), fs.existsSync(path.join(replaced.kept, 'mirror-consent'))], [false, true], 'another learner decides for themselves');
  assert.equal(issues(path.join(replaced.kept, 'paige.db')), '1,2');
  assert.equal(issues(path.join(other, 'paige.db')), '1');
});

scenario('a file that is no learner, or says more than a learner has, changes nothing', async (t) => {
  const daemon = await t.daemon();
  await session(await t.editor(daemon), 1);
  await daemon.stop();
  const dir = t.directory('bad');
  const good = path.join(dir, 'good');
  assert.equal((await ctl(daemon, daemon.dataDir, 'export', good)).code, 0);
  const before = contents(daemon.dataDir);
  const row = (name, mode, size, data) => `INSERT INTO sqlar VALUES ('${name}', ${mode}, 0, ${size}, ${data})`;
  for (const [what, sql, why] of [
    ['a way out', row('../evil', 0o100600, 1, "x'41'"), 'it holds a file that no learner has'],
    ['a way out of a folder', row('buffers/../../evil', 0o100600, 1, "x'41'"), 'it holds a file that no learner has'],
    ['an absolute path', row('/tmp/evil', 0o100600, 1, "x'41'"), 'it holds a file that no learner has'],
    ['a token', row('token', 0o100600, 1, "x'41'"), 'it holds a file that no learner has'],
    ['a name with an end in it', `INSERT INTO sqlar VALUES (CAST(x'627566666572730078' AS TEXT), 33152, 0, 1, x'41')`, 'it holds a file that no learner has'],
    ['a link', row('agents/x', 0o120777, 4, "x'2f657463'"), 'it holds what is no plain file, or compressed'],
    ['compressed', row('agents/x', 0o100600, 100, "x'41'"), 'it holds what is no plain file, or compressed'],
    ['no database', "DELETE FROM sqlar WHERE name = 'paige.db'", 'it holds no paige.db'],
    ['a damaged database', "UPDATE sqlar SET data = CAST(substr(data, 1, 8192) || zeroblob(sz - 8192) AS BLOB) WHERE name = 'paige.db'", /paige\.db/],
    ['another database', "UPDATE sqlar SET data = (SELECT data FROM sqlar WHERE name = 'guard.db'), sz = (SELECT sz FROM sqlar WHERE name = 'guard.db') WHERE name = 'paige.db'", /it is not a paige\.db of Paige/],
    ['a later version', 'PRAGMA user_version = 99', 'it was made by a later version of Paige'],
    ['another table', 'DROP TABLE sqlar', 'no such table: sqlar'],
    ['another program', 'PRAGMA application_id = 1', 'it is another database'],
  ]) {
    const file = path.join(dir, 'bad');
    fs.copyFileSync(good, file);
    sqlite(file, sql);
    const { code, error } = await ctl(daemon, daemon.dataDir, 'import', file, '--replace');
    assert.equal(code, 1, what);
    assert.match(error, /is no learner that was exported/, what);
    assert.ok(typeof why === 'string' ? error.includes(why) : why.test(error), `${what}: ${error}`);
    assert.deepEqual(contents(daemon.dataDir), before, what);
    assert.ok(!fs.existsSync(path.join(daemon.dataDir, '..', 'evil')));
  }
  const backup = await ctl(daemon, daemon.dataDir, 'import', path.join(daemon.dataDir, 'paige.db'), '--replace');
  assert.match(backup.error, /A backup of paige\.db is put in place by `paigectl restore`/);
});

scenario(`export, import and restore are killed ${KILLS} times each: the old or the new is there, and the daemon starts`, async (t) => {
  const daemon = await t.daemon();
  await session(await t.editor(daemon), 1);
  await daemon.stop();
  const dir = t.directory('export');
  const old = path.join(dir, 'old');
  const young = path.join(dir, 'young');
  assert.equal((await ctl(daemon, daemon.dataDir, 'export', old)).code, 0);
  sqlite(path.join(daemon.dataDir, 'paige.db'), 'UPDATE sessions SET issue_number = 2');
  assert.equal((await ctl(daemon, daemon.dataDir, 'export', young)).code, 0);
  const backup = path.join(dir, 'backup.db');
  sqlite(path.join(daemon.dataDir, 'paige.db'), `VACUUM INTO '${backup}'`);
  const target = path.join(t.directory('target'), 'data');

  /** Ends paigectl with what it has started, at some moment of its time. */
  const killed = async (ms, ...args) => {
    const child = spawn(PAIGECTL, args, { env: { ...daemon.env, DATA_DIR: target }, cwd: daemon.root, detached: true, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await sleep(ms);
    const family = descendants(child.pid);
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
    await ended;
    // With a sanitizer a second process with its files, and so with the lock, may outlive it by a moment.
    await until('the end of its processes', () => !family.some(alive));
  };
  assert.equal((await ctl(daemon, target, 'import', old)).code, 0);
  const began = Date.now();
  assert.equal((await ctl(daemon, target, 'import', old, '--replace')).code, 0);
  const span = Date.now() - began;
  const seen = new Set();
  for (let i = 0; i < KILLS; i += 1) {
    const moment = (span * 1.2 * i) / KILLS;
    await killed(moment, 'import', i % 2 ? old : young, '--replace');
    await killed(moment, 'export', path.join(dir, 'again'), '--replace');
    if (fs.existsSync(path.join(dir, 'again'))) assert.equal(sqlite(path.join(dir, 'again'), 'PRAGMA quick_check'), 'ok');
    if (i % 4 === 3) {
      // The daemon completes what has begun to count.
      const started = await t.daemon({ dataDir: target, projectDir: daemon.projectDir });
      const [{ n, issue }] = await started.sql('SELECT count(*) AS n, max(issue_number) AS issue FROM sessions');
      assert.ok(n === 1 && [1, 2].includes(issue), `${n} ${issue}`);
      await started.stop();
      seen.add(issue);
    }
    await killed(moment, 'restore', backup);
  }
  // Whoever comes next completes it, too.
  assert.equal((await ctl(daemon, target, 'restore', backup)).code, 0);
  assert.equal(issues(path.join(target, 'paige.db')), '2');
  assert.ok(!fs.existsSync(path.join(target, 'replacement')));
  assert.ok(seen.size > 0);
});
