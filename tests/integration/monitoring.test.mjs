// What config/monitoring offers, with the real Prometheus: the rules are right, /metrics is clean, every metric that an alert or a panel
// asks for is there.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Guard } from './lib/guard.mjs';
import { MIRROR } from './lib/mirror.mjs';
import { freePort } from './lib/ports.mjs';
import { QUESTION } from './lib/project.mjs';
import { scenario, unless } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';
import { WORKERS } from './lib/workers.mjs';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../config/monitoring');
const missing = spawnSync('promtool', ['--version']).error || spawnSync('prometheus', ['--version']).error ? 'Prometheus is not installed' : false;
const withPrometheus = unless(missing, scenario);
const promtool = (args, input) => execFileSync('promtool', args, { cwd: folder, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });

withPrometheus('the alerts are raised by what they name, and by nothing that looks like it', async () => {
  promtool(['check', 'rules', 'paige.rules.yml']);
  promtool(['test', 'rules', 'paige.rules.test.yml']);
});

withPrometheus('Prometheus scrapes /metrics, and everything that alerts and dashboard ask for is there', async (context) => {
  // Whose PostgreSQL is away: its metrics are there all the same.
  const withMirror = fs.existsSync(MIRROR);
  const daemon = await context.daemon({ env: withMirror ? { MIRROR_URL: 'postgresql://ada@127.0.0.1:1/class' } : {} });
  const text = (await daemon.get('/metrics')).text;
  promtool(['check', 'metrics'], text); // fails on a name, a type or a help text that breaks a convention
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]));
  const dashboard = JSON.parse(fs.readFileSync(path.join(folder, 'paige.dashboard.json'), 'utf8'));
  const asked = [
    ...[...fs.readFileSync(path.join(folder, 'paige.rules.yml'), 'utf8').matchAll(/expr: (?:>-\n\s+)?(.*)/g)].map((match) => match[1]),
    ...dashboard.panels.flatMap((panel) => panel.targets.map((target) => target.expr.replaceAll('$instance', '.*'))),
  ].filter((expression) => withMirror || !expression.includes('paige_mirror_'));
  assert.ok(asked.length > 20, `${asked.length} expressions`);
  for (const expression of asked)
    for (const [name] of expression.matchAll(/paige_\w+/g)) assert.ok(known.has(name.replace(/_bucket$/, '')), `${name} of ${expression}`);

  const dir = context.directory('prometheus');
  const port = await freePort();
  fs.writeFileSync(path.join(dir, 'paige.token'), daemon.discovery.token);
  fs.copyFileSync(path.join(folder, 'paige.rules.yml'), path.join(dir, 'paige.rules.yml'));
  const config = fs.readFileSync(path.join(folder, 'prometheus.yml'), 'utf8').replace('127.0.0.1:3000', `127.0.0.1:${daemon.port}`).replace('15s', '1s');
  fs.writeFileSync(path.join(dir, 'prometheus.yml'), config);
  const prometheus = spawn('prometheus', ['--config.file', path.join(dir, 'prometheus.yml'), '--storage.tsdb.path', path.join(dir, 'data'), '--web.listen-address', `127.0.0.1:${port}`], { stdio: 'ignore' });
  context.closeLater({ close: () => prometheus.kill('SIGKILL') });
  const query = async (expression) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`).then((response) => response.json()).catch(() => null);
    return answer?.status === 'success' ? answer.data.result : answer;
  };
  await until('the target is up', async () => (await query('up{job="paige"}'))?.[0]?.value[1] === '1', { ms: 30_000, every: 200 });
  await until('each worker is seen', async () => (await query('paige_worker_up == 1'))?.length === (withMirror ? 7 : 6), { ms: 20_000, every: 200 });
  for (const expression of asked) assert.ok(Array.isArray(await query(expression)), `${expression} is refused`);
});

const sample = (text, name) => Number(text.match(new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\S+)$`, 'm'))?.[1]);

scenario('/metrics tells of each process, of the disk, and of calls to Claude as the log has them', async (context) => {
  const claude = await context.claude();
  const daemon = await context.daemon({ env: { ANTHROPIC_BASE_URL: claude.url } });
  const editor = await context.editor(daemon);
  assert.equal((await editor.ask('user:explain', QUESTION, ['explain:response', 'explain:error'])).type, 'explain:response');
  const { pid } = daemon;
  const text = (await daemon.get('/metrics')).text;
  assert.match(text, /^paige_build_info\{version="[0-9.]+"\} 1$/m);
  for (const name of [...WORKERS, 'paiged']) {
    assert.ok(sample(text, `paige_process_resident_memory_bytes{worker="${name}"}`) > 1e6, name);
    const age = Date.now() / 1000 - sample(text, `paige_process_start_time_seconds{worker="${name}"}`);
    assert.ok(age >= 0 && age < 300, `${name} is ${age} s old`);
    assert.ok(sample(text, `paige_process_cpu_seconds_total{worker="${name}"}`) >= 0, name);
  }
  assert.ok(sample(text, 'paige_disk_free_bytes') <= sample(text, 'paige_disk_size_bytes'));

  const [row] = await daemon.sql("SELECT model, input_tokens, output_tokens, cost_estimate FROM api_call_log WHERE call_type = 'explain_this'");
  const labels = `{kind="explain_this",model="${row.model}",outcome="ok"}`;
  assert.equal(sample(text, `paige_claude_calls_total${labels}`), 1);
  assert.equal(sample(text, `paige_claude_input_tokens_total${labels}`), row.input_tokens);
  assert.equal(sample(text, `paige_claude_output_tokens_total${labels}`), row.output_tokens);
  assert.ok(Math.abs(sample(text, `paige_claude_cost_dollars_total${labels}`) - row.cost_estimate) < 1e-9);
  assert.equal(sample(text, `paige_claude_call_seconds_count${labels}`), 1);

  for (const [worker, owner] of [['gateway', 'store'], ['llm', 'store']]) {
    const calls = (end) => sample(text, `paige_bus_call_seconds_${end.replace('{', `{worker="${worker}",owner="${owner}",`)}`);
    const count = sample(text, `paige_bus_call_seconds_count{worker="${worker}",owner="${owner}"}`);
    assert.ok(count >= 1, `${worker} has called ${owner}`);
    assert.equal(calls('bucket{le="\\+Inf"}'), count);
    assert.equal(calls('bucket{le="60"}'), count, 'within a minute');
    assert.ok(sample(text, `paige_bus_call_seconds_sum{worker="${worker}",owner="${owner}"}`) > 0);
    assert.equal(sample(text, `paige_bus_refused_total{worker="${worker}",owner="${owner}"}`), 0);
    assert.ok(sample(text, `paige_bus_queue_calls{worker="${worker}",owner="${owner}"}`) >= 0);
  }
  await daemon.ctl('stop', 'guard-engine');
  await until('the gateway has heard of it', async () => (await daemon.get('/guards/idle')).status === 503);
  const refused = sample((await daemon.get('/metrics')).text, 'paige_bus_refused_total{worker="gateway",owner="guard-engine"}');
  assert.ok(refused >= 1, `${refused} refused`);
  await daemon.ctl('start', 'guard-engine');
  await daemon.healthy();

  await fetch(`${daemon.url}/nowhere`, { headers: { authorization: `Bearer ${daemon.discovery.token}` } });
  await Guard.create(daemon, 'interview', 'one', {});
  const later = (await daemon.get('/metrics')).text;
  assert.equal(sample(later, 'paige_http_answers_total{code="404",path="other"}'), 1);
  assert.equal(sample(later, 'paige_http_answers_total{code="101",path="/ws"}'), 1);
  assert.ok(sample(later, 'paige_http_answers_total{code="200",path="/metrics"}') >= 1);
  assert.equal(sample(later, 'paige_guard_machines{kind="interview"}'), 1);
  assert.ok(sample(later, 'paige_guard_steps_total{kind="interview"}') >= 1);

  // Metrics are for bad days. (A worker that just greets its own listener, bus_canary.c, waits for the supervisor, who lets it connect.)
  await until('metrics while the supervisor stands still', async () => {
    process.kill(pid, 'SIGSTOP');
    try {
      const began = Date.now();
      const rest = (await daemon.get('/metrics', { ms: 20_000 })).text;
      assert.ok(Date.now() - began >= 900, 'it has waited for the supervisor');
      assert.doesNotMatch(rest, /paige_build_info/);
      return sample(rest, `paige_claude_calls_total${labels}`) === 1;
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
});
