// Who may connect (contract section 3), and what those who may not can do to the others. The rules themselves are a table
// in tests/unit/test_gateway_access.c.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { exchange, request } from './lib/raw-http.mjs';
import { scenario } from './lib/scenario.mjs';
import { cannot, stranger } from './lib/stranger.mjs';
import { sleep, until } from './lib/wait.mjs';

const strangely = cannot ? (name) => test(name, { skip: cannot }, () => {}) : scenario;

const gauge = async (daemon, name) => Number((await daemon.get('/metrics')).text.match(new RegExp(`^${name} (\\d+)`, 'm'))[1]);
const memory = (daemon) => Number(fs.readFileSync(`/proc/${daemon.worker('gateway').pid}/status`, 'utf8').match(/^VmRSS:\s*(\d+)/m)[1]) * 1024;
const gatewayLog = (daemon) => fs.readFileSync(path.join(daemon.dataDir, 'logs', 'gateway.log'), 'utf8');

scenario('what a page of another site asks for is refused, with an Origin or without', async (t) => {
  const daemon = await t.daemon();
  for (const site of ['cross-site', 'same-site']) for (const target of ['/metrics', '/guards/idle', '/guards/idle/x', '/']) assert.equal((await exchange(daemon, request(daemon, 'GET', target, { headers: { 'Sec-Fetch-Site': site } }))).status, 403, `${site} ${target}`);
  for (const site of ['same-origin', 'none']) assert.equal((await exchange(daemon, request(daemon, 'GET', '/', { headers: { 'Sec-Fetch-Site': site } }))).status, 200, site);
});

strangely('idle connections and half headers of another user leave the owner served and the memory as it was', async (t) => {
  const daemon = await t.daemon();
  const crowd = await stranger(t, daemon);
  const before = memory(daemon);
  for (let i = 0; i < 4; i++) {
    await crowd.connect(200);
    await crowd.send(`GET /metrics HTTP/1.1\r\n${`X-Y: ${'z'.repeat(1000)}\r\n`.repeat(40)}`);
    const start = Date.now();
    assert.equal((await daemon.get('/metrics')).status, 200);
    assert.ok(Date.now() - start < 2000, `${Date.now() - start} ms`);
  }
  await until('strangers keep to their share', async () => (await gauge(daemon, 'paige_http_connections')) <= 64 + 8);
  assert.ok(memory(daemon) - before < 32 << 20, `${memory(daemon) - before} bytes more`);
  const other = await stranger(t, daemon);
  const host = `Host: 127.0.0.1:${daemon.port}\r\nConnection: close\r\n`;
  assert.equal((await other.ask(`GET /metrics HTTP/1.1\r\n${host}\r\n`)).status, 403);
  assert.equal((await other.ask(`GET /metrics HTTP/1.1\r\n${host}Authorization: Bearer ${daemon.discovery.token}\r\n\r\n`)).status, 200);
  await until('those that go on waiting are cut', async () => (await gauge(daemon, 'paige_http_connections')) <= 8, { ms: 25000, every: 500 });
});

strangely('refused requests are a few lines a second and a sum, and nothing in them acts on a terminal', async (t) => {
  const daemon = await t.daemon();
  const other = await stranger(t, daemon);
  await sleep(1100);
  await other.connect(1);
  const evil = `GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nOrigin: http://\u009b2J\u202eevil\r\n\r\n`;
  for (let i = 0; i < 10; i++) await other.send(evil.repeat(50));
  await until('they are refused', async () => (await gauge(daemon, 'paige_http_refused_total')) >= 500);
  await until('the rest is a sum', () => /msg="more requests were refused in the same second" requests=\d+/.test(gatewayLog(daemon)));
  await sleep(1100);
  const log = gatewayLog(daemon);
  const lines = log.split('\n').filter((line) => line.includes('msg="request refused"')).length;
  const sums = [...log.matchAll(/refused in the same second" requests=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
  assert.equal(lines + sums, 500, 'none is forgotten');
  assert.ok(lines <= 5 * 6, `${lines} lines`);
  for (const text of [log, (await daemon.ctl('logs', 'gateway')).stdout]) {
    assert.doesNotMatch(text, /[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/);
    assert.match(text, /http:\/\/\\u009b2J\\u202eevil/);
  }
});

scenario('the token is kept from run to run, in a file of its own, until it is made anew', async (t) => {
  const dataDir = t.directory('data');
  const env = { HOST: '127.0.0.1' }; // makes the token mandatory, for the owner too
  let daemon = await t.daemon({ dataDir, env });
  const file = path.join(dataDir, 'token');
  const metrics = async (token) => (await exchange(daemon, request(daemon, 'GET', '/metrics', { headers: { Authorization: `Bearer ${token}` } }))).status;
  const printed = async (...args) => {
    const { code, stdout, stderr } = await daemon.ctl('token', ...args);
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };
  const first = await printed();
  assert.match(first, /^[0-9a-f]{64}$/);
  assert.equal(first, daemon.discovery.token);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(await metrics(first), 200);
  assert.equal((await exchange(daemon, request(daemon, 'GET', '/metrics'))).status, 403);
  await daemon.stop();
  assert.equal(await printed(), first, 'the daemon need not run');

  daemon = await t.daemon({ dataDir, env });
  assert.equal(daemon.discovery.token, first, 'kept');
  const second = await printed('--rotate');
  assert.notEqual(second, first);
  assert.equal(fs.readFileSync(file, 'utf8'), `${second}\n`);
  assert.equal(JSON.parse(fs.readFileSync(path.join(dataDir, 'paiged.json'), 'utf8')).token, second);
  assert.equal(await metrics(first), 403, 'at once');
  assert.equal(await metrics(second), 200);
  await daemon.stop();
  const third = await printed('--rotate');
  assert.notEqual(third, second, 'without a daemon, too');

  fs.chmodSync(file, 0o644);
  const { code, stderr } = await daemon.ctl('token');
  assert.equal(code, 1);
  assert.match(stderr, /can be read by others/);
  daemon = await t.daemon({ dataDir, env });
  assert.notEqual(daemon.discovery.token, third, 'a token that others could read is not used');
  assert.match(daemon.output, /the token of the last run is not used/);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  await daemon.stop();
  fs.writeFileSync(file, 'x\n', { mode: 0o600 });
  daemon = await t.daemon({ dataDir, env });
  assert.match(await printed(), /^[0-9a-f]{64}$/, 'nor what is no token');
});
