// Who may connect, and what those who may not can do to the others. The rules themselves are a table
// in tests/unit/gateway/test_gateway_access.c.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { exchange, request } from './lib/raw-http.mjs';
import { checkBehind, PROXIES, publicName, startProxy, withoutProxy } from './lib/proxies.mjs';
import { scenario, unless, waiting } from './lib/scenario.mjs';
import { cannot, stranger } from './lib/stranger.mjs';
import { sleep, until } from './lib/wait.mjs';

const strangely = unless(cannot, scenario);

const gauge = async (daemon, name) => Number((await daemon.get('/metrics')).text.match(new RegExp(`^${name} (\\d+)`, 'm'))[1]);
const memory = (daemon) => Number(fs.readFileSync(`/proc/${daemon.worker('gateway').pid}/status`, 'utf8').match(/^VmRSS:\s*(\d+)/m)[1]) * 1024;
const gatewayLog = (daemon) => fs.readFileSync(path.join(daemon.dataDir, 'logs', 'gateway.log'), 'utf8');

scenario('what a page of another site asks for is refused, with an Origin or without', async (t) => {
  const daemon = await t.daemon();
  for (const site of ['cross-site', 'same-site']) for (const target of ['/metrics', '/guards/idle', '/guards/idle/x', '/']) assert.equal((await exchange(daemon, request(daemon, 'GET', target, { headers: { 'Sec-Fetch-Site': site } }))).status, 403, `${site} ${target}`);
  for (const site of ['same-origin', 'none']) assert.equal((await exchange(daemon, request(daemon, 'GET', '/', { headers: { 'Sec-Fetch-Site': site } }))).status, 200, site);
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

/** A wrong setting ends the start with these words. */
async function refusedStart(t, env, words) {
  await assert.rejects(() => t.daemon({ env }), words);
  t.daemons.pop().removeScratch();
}

strangely('users and groups that are allowed connect without the token, and nobody else', async (t) => {
  const daemon = await t.daemon({ env: { ALLOWED_USERS: 'nobody', ALLOWED_GROUPS: 'mail' } });
  const get = `GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nConnection: close\r\n`;
  const uidOf = (name) => Number(fs.readFileSync('/etc/passwd', 'utf8').match(new RegExp(`^${name}:[^:]*:(\\d+)`, 'm'))[1]);
  assert.equal((await (await stranger(t, daemon, uidOf('nobody'))).ask(`${get}\r\n`)).status, 200);
  assert.equal((await (await stranger(t, daemon, uidOf('mail'))).ask(`${get}\r\n`)).status, 200, 'by the first group');
  assert.equal((await (await stranger(t, daemon, uidOf('games'))).ask(`${get}\r\n`)).status, 403);
  const proxied = await (await stranger(t, daemon, uidOf('nobody'))).ask(`${get}X-Forwarded-For: 192.0.2.1\r\n\r\n`);
  assert.equal(proxied.status, 403, 'what is handed on for others needs the token');
});

scenario('settings of who may connect that make no sense end the start', async (t) => {
  await refusedStart(t, { ALLOWED_USERS: 'no-such-user' }, /ALLOWED_USERS: there is no user "no-such-user"/);
  await refusedStart(t, { ALLOWED_GROUPS: 'no-such-group' }, /ALLOWED_GROUPS: there is no group "no-such-group"/);
  await refusedStart(t, { PUBLIC_HOSTS: 'https://a/b' }, /PUBLIC_HOSTS: "https:\/\/a\/b" must be/);
});

/** What a browser does at the login page; gives the answer. */
const login = (daemon, token, headers) => exchange(daemon, request(daemon, 'POST', '/login', { ...headers, body: JSON.stringify({ token }) }));

scenario('a browser logs in with the token and is let in by a cookie, which a new token ends', async (t) => {
  const daemon = await t.daemon({ env: { HOST: '127.0.0.1', PUBLIC_HOSTS: 'https://paige.example.org' } });
  const { token } = daemon.discovery;
  const page = await exchange(daemon, request(daemon, 'GET', '/', { headers: { Accept: 'text/html,*/*;q=0.8' } }));
  assert.equal(page.status, 403);
  assert.match(page.body, /<form id="form">/);
  assert.match(page.headers['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/);
  assert.equal((await exchange(daemon, request(daemon, 'GET', '/login'))).status, 200);
  assert.equal((await exchange(daemon, request(daemon, 'GET', '/metrics', { headers: { Accept: 'application/json' } }))).headers['content-type'], 'application/json');

  assert.equal((await login(daemon, 'wrong')).status, 403);
  assert.equal((await login(daemon, token, { headers: { Origin: 'https://evil.example' } })).status, 403, 'not from a foreign page');
  assert.equal((await login(daemon, token, { headers: { 'Sec-Fetch-Site': 'cross-site' } })).status, 403);
  const form = `token=${token}`;
  assert.equal((await exchange(daemon, `POST /login HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n\r\n${form}`)).status, 415, 'not by a form');
  assert.equal((await login(daemon, 'x'.repeat(5000))).status, 413);
  const answer = await login(daemon, token);
  assert.equal(answer.status, 204);
  const set = answer.headers['set-cookie'];
  assert.match(set, new RegExp(`^paige_login_${daemon.port}=[0-9a-f]{64}; Path=/; Max-Age=\\d+; HttpOnly; SameSite=Strict$`));
  assert.ok(!set.includes(token), 'the token itself is not in it');
  const Cookie = set.split(';')[0];
  const asked = async (headers, target = '/metrics', host) => (await exchange(daemon, request(daemon, 'GET', target, { headers: { Cookie, ...headers }, host }))).status;
  assert.equal(await asked({}), 200);
  assert.equal(await asked({}, '/'), 200);
  assert.equal(await asked({ Origin: 'https://paige.example.org' }), 200);
  assert.equal(await asked({}, '/metrics', 'paige.example.org'), 200);
  assert.equal(await asked({}, '/metrics', 'other.example.org'), 403);
  assert.equal(await asked({ Origin: 'https://evil.example' }), 403, 'the cookie lifts no other rule');
  assert.equal(await asked({ 'Sec-Fetch-Site': 'same-site' }), 403);
  const secure = await login(daemon, token, { host: 'paige.example.org', headers: { Origin: 'https://paige.example.org' } });
  assert.match(secure.headers['set-cookie'], /; Secure$/);

  const statuses = [];
  for (let i = 0; i < 15; i++) statuses.push((await login(daemon, 'wrong')).status);
  assert.ok(statuses.includes(429), `${statuses}`);
  assert.equal((await login(daemon, token)).status, 204, 'the right one is still taken');
  assert.equal((await daemon.ctl('token', '--rotate')).code, 0);
  assert.equal(await asked({}), 403, 'a new token ends the cookie');
});

for (const kind of PROXIES) {
  unless(cannot || withoutProxy(kind), scenario)(`behind ${kind}, which runs as another user: nobody without the token, everything with it`, async (t) => {
    const name = await publicName();
    const daemon = await t.daemon({ env: { PUBLIC_HOSTS: `https://${name.host}`, TRUSTED_PROXIES: 'www-data' } });
    const proxy = t.closeLater(startProxy(kind, t.directory(kind), name.front, daemon.port));
    await checkBehind(name, proxy, daemon.discovery.token, { log: () => daemon.everythingWritten() });
  });
}

/** A network of its own with one address, from which this machine is 10.213.97.1: what a container's bridge is. Null where none can be made. */
function bridge() {
  const name = `paige-${process.pid}`;
  const ip = (...args) => spawnSync('ip', args, { stdio: 'ignore' }).status === 0;
  const remove = () => ip('netns', 'del', name);
  const made = ip('netns', 'add', name) &&
    ip('link', 'add', 'paige-b0', 'type', 'veth', 'peer', 'name', 'paige-b1', 'netns', name) && ip('address', 'add', '10.213.97.1/30', 'dev', 'paige-b0') && ip('link', 'set', 'paige-b0', 'up') &&
    ip('-n', name, 'address', 'add', '10.213.97.2/30', 'dev', 'paige-b1') && ip('-n', name, 'link', 'set', 'paige-b1', 'up');
  if (!made) remove();
  return made ? { name, remove } : null;
}

const FROM_OUTSIDE = `
  const socket = require('node:net').connect(Number(process.argv[1]), '10.213.97.1');
  process.stdin.pipe(socket, { end: false });
  socket.pipe(process.stdout);
  socket.on('close', () => process.stdin.destroy());
  socket.on('error', (error) => { console.error(error.message); process.exit(1); });
  setTimeout(() => process.exit(0), 4000).unref();`;

const outside = cannot ? null : bridge();
if (outside) process.on('exit', outside.remove);
const fromOutside = unless(cannot || (!outside && 'a network namespace cannot be made here'), scenario);

fromOutside('through a published port of a container: the public name and the token, or nothing', async (t) => {
  const published = '192.0.2.7:8080';
  const daemon = await t.daemon({ env: { HOST: '0.0.0.0', PUBLIC_HOSTS: published } });
  const ask = (text) => {
    const { stdout, stderr } = spawnSync('ip', ['netns', 'exec', outside.name, process.execPath, '-e', FROM_OUTSIDE, String(daemon.port)], { input: text, encoding: 'utf8' });
    const status = Number(stdout.match(/^HTTP\/1\.1 (\d{3})/)?.[1]);
    assert.ok(status, stderr);
    return { status, cookie: stdout.match(/^set-cookie: ([^;]*)/im)?.[1] };
  };
  const bearer = { Authorization: `Bearer ${daemon.discovery.token}` };
  const get = (host, headers) => ask(request(daemon, 'GET', '/metrics', { host, headers })).status;
  assert.equal(get(published), 403);
  assert.equal(get(published, { Authorization: `Bearer ${'0'.repeat(64)}` }), 403);
  assert.equal(get(published, bearer), 200);
  assert.equal(get('192.0.2.7:8081', bearer), 403, 'a name that is not among the public ones');
  assert.equal(get(published, { ...bearer, Origin: 'http://evil.example' }), 403);
  const own = { Origin: `http://${published}` };
  assert.equal(get(published, { ...bearer, ...own }), 200);
  const answer = ask(request(daemon, 'POST', '/login', { host: published, headers: own, body: JSON.stringify({ token: daemon.discovery.token }) }));
  assert.equal(answer.status, 204);
  assert.equal(get(published, { Cookie: answer.cookie }), 200);
});

const strangelyWaiting = unless(cannot, waiting);
strangelyWaiting('idle connections and half headers of another user leave the owner served and the memory as it was', async (t) => {
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
  // A sanitizer keeps what is freed for a while.
  if (!process.env.ASAN_OPTIONS) assert.ok(memory(daemon) - before < 32 << 20, `${memory(daemon) - before} bytes more`);
  const other = await stranger(t, daemon);
  const host = `Host: 127.0.0.1:${daemon.port}\r\nConnection: close\r\n`;
  assert.equal((await other.ask(`GET /metrics HTTP/1.1\r\n${host}\r\n`)).status, 403);
  assert.equal((await other.ask(`GET /metrics HTTP/1.1\r\n${host}Authorization: Bearer ${daemon.discovery.token}\r\n\r\n`)).status, 200);
  await until('those that go on waiting are cut', async () => (await gauge(daemon, 'paige_http_connections')) <= 8, { ms: 25000, every: 500 });
});
