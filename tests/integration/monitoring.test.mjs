// What config/monitoring offers, with the real Prometheus: the rules are right, /metrics is clean, every metric that an alert or a panel
// asks for is there.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from './lib/ports.mjs';
import { scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../config/monitoring');
const missing = spawnSync('promtool', ['--version']).error || spawnSync('prometheus', ['--version']).error ? 'Prometheus is not installed' : false;
const withPrometheus = missing ? (name) => test(name, { skip: missing }, () => {}) : scenario;
const promtool = (args, input) => execFileSync('promtool', args, { cwd: folder, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });

withPrometheus('the alerts are raised by what they name, and by nothing that looks like it', async () => {
  promtool(['check', 'rules', 'paige.rules.yml']);
  promtool(['test', 'rules', 'paige.rules.test.yml']);
});

withPrometheus('Prometheus scrapes /metrics, and everything that alerts and dashboard ask for is there', async (context) => {
  const daemon = await context.daemon();
  const text = (await daemon.get('/metrics')).text;
  promtool(['check', 'metrics'], text); // fails on a name, a type or a help text that breaks a convention
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]));
  const dashboard = JSON.parse(fs.readFileSync(path.join(folder, 'paige.dashboard.json'), 'utf8'));
  const asked = [
    ...[...fs.readFileSync(path.join(folder, 'paige.rules.yml'), 'utf8').matchAll(/expr: (?:>-\n\s+)?(.*)/g)].map((match) => match[1]),
    ...dashboard.panels.flatMap((panel) => panel.targets.map((target) => target.expr.replaceAll('$instance', '.*'))),
  ];
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
  await until('each worker is seen', async () => (await query('paige_worker_up == 1'))?.length === 6, { ms: 20_000, every: 200 });
  for (const expression of asked) assert.ok(Array.isArray(await query(expression)), `${expression} is refused`);
});
