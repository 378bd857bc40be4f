// paigectl as a person at a terminal uses it, against a real daemon.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { sideBySide as scenario } from './lib/scenario.mjs';
import { ALL_WORKERS } from './lib/workers.mjs';

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
