// paigectl as a person at a terminal uses it, against a real daemon.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { sideBySide as scenario } from './lib/scenario.mjs';
import { ALL_WORKERS, WORKERS } from './lib/workers.mjs';

const { PAIGED } = process.env;

scenario('a misspelt command, option, worker or setting is answered with what may be meant', async (t) => {
  const daemon = await t.daemon();
  for (const [args, text] of [
    [['stauts'], 'there is no command "stauts"; is "status" meant?\nTry `paigectl --help`.'],
    [['lgos'], 'there is no command "lgos"; is "logs" meant?\nTry `paigectl --help`.'],
    [['status', '--jsno'], 'no such option: --jsno; is --json meant?\nTry `paigectl status --help`.'],
    [['status', '--json=1'], '--json=1: the option takes no argument\nTry `paigectl status --help`.'],
    [['logs', '--levle=warn'], 'no such option: --levle=warn; is --level meant?\nTry `paigectl logs --help`.'],
    [['restart', 'gatway'], 'there is no worker "gatway"; is "gateway" meant?'],
    [['restart', 'al'], 'there is no worker "al"; is "all" meant?'],
    [['logs', 'paigd'], 'there is no worker "paigd"; is "paiged" meant?'],
    [['tap', 'stroe'], 'there is no worker "stroe"; is "store" meant?'],
  ])
    assert.deepEqual(await daemon.ctl(...args), { code: 2, stdout: '', stderr: `paigectl: ${text}\n` }, args.join(' '));

  // Nothing is near: all that there is.
  const command = await daemon.ctl('x'.repeat(100_000));
  assert.equal(command.code, 2);
  assert.match(command.stderr, /^ {2}status +show the daemon and its workers$/m);
  for (const name of ['logs', 'tap', 'restart']) {
    const { code, stderr } = await daemon.ctl(name, 'nobody');
    assert.equal(code, 2);
    assert.match(stderr, /^paigectl: there is no worker "nobody"\. There are:$/m);
    for (const worker of ALL_WORKERS) assert.match(stderr, new RegExp(`^  ${worker} `, 'm'), name);
  }
  const escaped = await daemon.ctl('logs', 'store\u001b[31m');
  assert.ok(escaped.code === 2 && !escaped.stderr.includes('\u001b'), escaped.stderr);

  const file = path.join(t.directory('settings'), 'paige.conf');
  fs.writeFileSync(file, `PROJECT_DIR=${daemon.projectDir}\nANTHROPIC_API_KEY=k\nPROT=1\n`);
  const checked = spawnSync(PAIGED, ['--check', '--config', file], { encoding: 'utf8' });
  assert.match(checked.stderr, /line 3: unknown setting PROT; is PORT meant\?/);
});

const WIDE = (text) => text.split('\n').filter((line) => line.length > 80);

scenario('status and top show each worker in 80 columns; what is not fine stands below', async (t) => {
  const daemon = await t.daemon();
  const { pid } = daemon.worker('llm');
  await daemon.replaced('llm', await daemon.kill9('llm'));
  for (const name of ['status', 'top']) {
    const { code, stdout } = await daemon.ctl(name);
    assert.equal(code, 0);
    assert.deepEqual(WIDE(stdout.replaceAll(daemon.dataDir, 'D').replaceAll(daemon.projectDir, 'P')), [], name);
    for (const worker of WORKERS) assert.match(stdout, new RegExp(`^${worker} +ready +\\d+ +\\d+s +${worker === 'llm' ? 1 : 0} +[\\d.]+M +[\\d.]+% fine \\[\\S+\\]$`, 'm'), name);
    assert.ok(!stdout.includes('\u001b'), 'nothing for a terminal, since there is none');
  }
  const { stdout } = await daemon.ctl('status');
  assert.match(stdout, /^llm +1 restarts? in the last minute$/m);
  assert.match((await daemon.ctl('top')).stdout, /^All processes: [\d.]+ MiB, [\d.]+% of a processor; [\d.]+ [KMGT]iB free on the disk$/m);
  assert.notEqual(daemon.worker('llm').pid, pid);
  for (const args of [['top', '--interval=0'], ['top', '--interval', 'x'], ['sessions', '--lines=1001']]) assert.equal((await daemon.ctl(...args)).code, 2, args.join(' '));
});

scenario('sessions lists them, the newest first; open prints where the web client is', async (t) => {
  const daemon = await t.daemon();
  assert.equal((await daemon.ctl('sessions')).stdout, 'There was no coaching session yet.\n');
  const editor = await t.editor(daemon);
  for (const [issueNumber, title] of [[7, 'Greet nobody'], [8, `A title \u001b[31m${'long '.repeat(40)}`]]) {
    editor.send('session:start', { issueNumber });
    await editor.next('session:started');
    await daemon.sql(`UPDATE sessions SET issue_title = '${title}' WHERE issue_number = ${issueNumber}`);
  }
  const { stdout } = await daemon.ctl('sessions');
  assert.match(stdout, /^\d{4}-\d\d-\d\d \d\d:\d\d {2}active +\d+s +#8 {2}A title .*long/m);
  assert.match(stdout, /^\d{4}-\d\d-\d\d \d\d:\d\d {2}abandoned +\d+s +#7 {2}Greet nobody *$/m);
  assert.ok(stdout.indexOf('#8') < stdout.indexOf('#7'));
  assert.deepEqual(WIDE(stdout), []);
  assert.ok(!stdout.includes('\u001b'));
  assert.deepEqual(JSON.parse((await daemon.ctl('sessions', '--json', '-n', '1')).stdout).map((row) => row.issueNumber), [8]);
  assert.equal((await daemon.get('/sessions?limit=1001')).status, 400);
  assert.equal((await daemon.ctl('open', '--print')).stdout, `http://localhost:${daemon.port}\n`);
});
