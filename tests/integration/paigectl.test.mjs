// paigectl as a person at a terminal uses it, against a real daemon.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { sideBySide as scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';
import { ALL_WORKERS, WORKERS } from './lib/workers.mjs';

const { PAIGED } = process.env;
const PAIGECTL = path.join(path.dirname(PAIGED), 'paigectl');

scenario('a misspelt command, option, worker or setting is answered with what may be meant', async (t) => {
  const daemon = await t.daemon();
  for (const [args, text] of [
    [['stauts'], 'there is no command "stauts"; is "status" meant?\nTry `paigectl --help`.'],
    [['lgos'], 'there is no command "lgos"; is "logs" meant?\nTry `paigectl --help`.'],
    [['status', '--jsno'], 'no such option: --jsno; is --json meant?\nTry `paigectl status --help`.'],
    [['status', '--json=1'], '--json=1: the option takes no argument\nTry `paigectl status --help`.'],
    [['logs', '--levle=warn'], 'no such option: --levle=warn; is --level meant?\nTry `paigectl logs --help`.'],
    [['restart', 'gatway'], 'there is no worker "gatway"; is "gateway" meant?'],
    [['stop', 'observr'], 'there is no worker "observr"; is "observer" meant?'],
    [['restart', 'al'], 'there is no worker "al"; is "all" meant?'],
    [['logs', 'paigd'], 'there is no worker "paigd"; is "paiged" meant?'],
    [['tap', 'stroe'], 'there is no worker "stroe"; is "store" meant?'],
  ])
    assert.deepEqual(await daemon.ctl(...args), { code: 2, stdout: '', stderr: `paigectl: ${text}\n` }, args.join(' '));

  // Nothing is near: all that there is.
  const command = await daemon.ctl('x'.repeat(100_000));
  assert.equal(command.code, 2);
  assert.match(command.stderr, /^ {2}status +show the daemon and its workers$/m);
  for (const name of ['logs', 'tap', 'restart', 'start', 'stop']) {
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

scenario('every command answers --json with JSON alone', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 7 });
  await editor.next('session:started');
  const copy = path.join(t.directory('copy'), 'copy.db');
  const learner = path.join(t.directory('copy'), 'learner');
  // What is asked for, and what must be in the answer; `stop` ends the daemon, and what needs that comes behind it.
  const cases = {
    status: [[], ({ workers }) => workers.length >= WORKERS.length],
    top: [['--once'], ({ workers }) => workers.length >= WORKERS.length],
    list: [[], ({ daemons }) => daemons.some(({ pid }) => pid === daemon.pid)],
    open: [['--print'], ({ url, opened }) => url === `http://localhost:${daemon.port}` && opened === false],
    sessions: [[], ([{ issueNumber }]) => issueNumber === 7],
    config: [[], ({ settings }) => settings.some(({ name, value }) => name === 'DATA_DIR' && value === daemon.dataDir)],
    doctor: [[], ({ findings }) => findings.length > 3],
    cost: [[], ({ days }) => Array.isArray(days)],
    edits: [['allow'], ({ session, allowed }) => session && allowed],
    logs: [['-n', '5', 'gateway'], ({ ts, level, worker, msg }) => !Number.isNaN(Date.parse(ts)) && level && worker === 'gateway' && msg],
    mirror: [[], ({ allowed }) => allowed === false],
    guard: [['list'], ({ kind, instances }) => kind && Array.isArray(instances)],
    backup: [[copy], ({ path: file, bytes }) => file === copy && bytes === fs.statSync(copy).size],
    token: [[], ({ token }) => token === daemon.token()],
    wait: [[], ({ ready, text }) => ready && text === `http://localhost:${daemon.port}`],
    reload: [[], ({ took_ms: ms, changed }) => ms >= 0 && changed.length === 0],
    restart: [['observer'], ({ took_ms: ms }) => ms >= 0],
    start: [['observer'], ({ took_ms: ms }) => ms >= 0],
    hook: [[], null],
    tap: [[], null],
    stop: [[], ({ pid }) => pid === daemon.pid],
    export: [[learner], ({ path: file, bytes }) => file === learner && bytes === fs.statSync(learner).size],
    restore: [[copy], ({ data_dir: dir, kept }) => dir === daemon.dataDir && fs.existsSync(path.join(kept, 'paige.db'))],
    import: [[learner, '--replace'], ({ data_dir: dir, kept }) => dir === daemon.dataDir && fs.existsSync(path.join(kept, 'paige.db'))],
  };
  const names = [...(await daemon.ctl('--help')).stdout.matchAll(/^ {2}(\S+) {2,}/gm)].map(([, name]) => name);
  assert.deepEqual(names.toSorted(), Object.keys(cases).toSorted(), 'every command is here');
  for (const [name, [args, holds]] of Object.entries(cases)) {
    if (!holds) continue;
    const { code, stdout, stderr } = await daemon.ctl(name, ...args, '--json');
    assert.ok(code === 0 || name === 'doctor', `${name}: ${code} ${stderr}`);
    assert.equal(stderr, '', name);
    // One object, or one a line.
    const first = ['guard', 'logs', 'top'].includes(name) ? stdout.split('\n')[0] : stdout;
    assert.ok(holds(JSON.parse(first)), `${name}: ${stdout}`);
  }
  await daemon.ended;
});

scenario('tap and the lines of logs are a line of JSON each, hook needs no option for it', async (t) => {
  const daemon = await t.daemon();
  const tap = spawn(PAIGECTL, ['tap', '--json'], { env: daemon.env, cwd: daemon.root });
  let seen = '';
  tap.stdout.setEncoding('utf8').on('data', (text) => (seen += text));
  await until('something on the bus', async () => {
    await daemon.get('/guards/idle');
    return seen.includes('\n');
  });
  tap.kill();
  assert.equal(typeof JSON.parse(seen.split('\n')[0]).from, 'string');
  const hook = spawnSync(PAIGECTL, ['hook', '--json'], { env: daemon.env, cwd: daemon.root, input: '', encoding: 'utf8' });
  assert.deepEqual([hook.status, hook.stdout], [0, '']);

  fs.appendFileSync(path.join(daemon.dataDir, 'logs', 'llm.log'), 'ts=2199-01-01T00:00:00.000Z level=warn worker=llm msg="a \\"b\\"\\nc\\\\" n=1 cut="off\n\tno fields = at "all"\n');
  const { stdout } = await daemon.ctl('logs', 'llm', '-n', '2', '--json');
  assert.deepEqual(stdout.trim().split('\n').map((line) => JSON.parse(line)), [
    { ts: '2199-01-01T00:00:00.000Z', level: 'warn', worker: 'llm', msg: 'a "b"\nc\\', n: '1', cut: 'off' },
    { text: '\tno fields = at "all"' },
  ]);

  // What is not there yet is said in JSON, too.
  const nobody = { ...daemon.env, DATA_DIR: t.directory('nobody') };
  const wait = spawnSync(PAIGECTL, ['wait', '--timeout=0', '--json'], { env: nobody, cwd: daemon.root, encoding: 'utf8' });
  assert.equal(wait.status, 3);
  assert.deepEqual(JSON.parse(wait.stdout), { ready: false, text: `no daemon is running on ${nobody.DATA_DIR}` });
});

scenario('a worker that was stopped stays stopped until it is started, and everybody says so', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  const stopped = await daemon.ctl('stop', 'guard-engine');
  assert.deepEqual([stopped.code, stopped.stderr], [0, '']);
  assert.match(stopped.stdout, /^guard-engine stopped after \d+ ms\n$/);
  assert.equal(daemon.worker('guard-engine'), undefined);
  const health = await until('/health says so', async () => {
    const { status, json } = await daemon.get('/health');
    return json.workers['guard-engine'] === 'stopped' && { status, said: json.status };
  });
  assert.deepEqual(health, { status: 200, said: 'degraded' });
  assert.equal((await daemon.get('/ready')).status, 503);
  const status = await daemon.ctl('status');
  assert.equal(status.code, 0, 'nothing that should run is away');
  assert.match(status.stdout, /^guard-engine +stopped; `paigectl start guard-engine` starts it$/m);

  // What needs it is told at once.
  const began = Date.now();
  const { status: refused, json } = await daemon.get('/guards/idle');
  assert.deepEqual([refused, json.code], [503, 'UNAVAILABLE']);
  assert.match(json.error, /guard-engine worker is stopped .*`paigectl start guard-engine` starts it/);
  assert.ok(Date.now() - began < 1000);

  // Nothing but its name brings it back.
  assert.equal((await daemon.ctl('reload')).code, 0);
  assert.equal((await daemon.ctl('restart')).code, 0);
  assert.equal((await daemon.ctl('stop', 'guard-engine')).code, 0, 'a second time');
  assert.equal(daemon.worker('guard-engine'), undefined);
  const { workers } = JSON.parse((await daemon.ctl('status', '--json')).stdout);
  const { state, want } = workers.find(({ name }) => name === 'guard-engine');
  assert.deepEqual([state, want], ['stopped', 'down']);
  for (const how of ['start', 'start', 'restart']) {
    assert.equal((await daemon.ctl(how, 'guard-engine')).code, 0, how);
    await daemon.healthy();
    assert.equal((await daemon.get('/guards/idle')).status, 200);
  }

  // The store: whoever writes is told; a gateway that is started anew knows it as well.
  assert.equal((await daemon.ctl('stop', 'store')).code, 0);
  editor.send('session:start', { issueNumber: 7 });
  const { payload: refusal } = await editor.next('connection:error', { where: ({ code }) => code === 'UNAVAILABLE' });
  assert.match(refusal.message, /The store worker is stopped/);
  await daemon.kill9('gateway');
  await until('a new gateway says it', async () => {
    const answer = await daemon.get('/health').catch(() => ({}));
    return answer.status === 503 && answer.json.workers.store === 'stopped';
  });
  assert.equal((await daemon.ctl('start', 'store')).code, 0);
  await daemon.healthy();

  // The token of a gateway that is stopped changes without starting it.
  assert.equal((await daemon.ctl('stop', 'gateway')).code, 0);
  const { token } = JSON.parse((await daemon.ctl('token', '--rotate', '--json')).stdout);
  assert.equal(token, daemon.token());
  assert.equal(daemon.worker('gateway'), undefined);
  assert.equal((await daemon.ctl('start', 'gateway')).code, 0);
  await daemon.healthy();

  for (const [args, text] of [
    [['start'], 'start needs the name of a WORKER. The daemon itself is started by its unit (`systemctl start`) or by paiged.'],
    [['stop', 'agent'], 'agent is not running: AGENT_COMMAND is not set'],
  ])
    assert.equal((await daemon.ctl(...args)).stderr, `paigectl: ${text}\n`);
});
