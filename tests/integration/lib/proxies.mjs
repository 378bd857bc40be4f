// proxies.mjs - the proxies that people put before Paige, and what has to hold behind each. Beside the daemon of this machine and before a
// container (tests/image/behind.mjs); so it needs nothing but node.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { selfSigned } from './certificate.mjs';
import { freePort } from './ports.mjs';
import { exchange, request } from './raw-http.mjs';
import { until } from './wait.mjs';

/** Debian installs programs of the system here, which is not in everybody's path. */
const program = (name) => ['/usr/sbin', '/usr/bin'].map((dir) => path.join(dir, name)).find((file) => fs.existsSync(file));

const NAME = 'paige.example.org';

/** What matters of these configurations stands in docs/operating.md. Each proxy runs as www-data where it is root that starts it. */
const KINDS = {
  nginx: (dir, front, back) => ({
    files: {
      'nginx.conf': `
        daemon off; pid ${dir}/pid; error_log stderr; user www-data; worker_processes 1; events {}
        http { access_log off; server { listen 127.0.0.1:${front} ssl; ssl_certificate ${dir}/crt; ssl_certificate_key ${dir}/key;
          location / { proxy_pass http://127.0.0.1:${back}; proxy_http_version 1.1; proxy_buffering off;
            proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $http_connection; } } }`,
    },
    command: ['-c', `${dir}/nginx.conf`],
  }),
  haproxy: (dir, front, back) => ({
    files: {
      'haproxy.cfg': `
global
  user www-data
  group www-data
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout tunnel 1h
  option forwardfor
frontend paige
  bind 127.0.0.1:${front} ssl crt ${dir}/both
  default_backend daemon
backend daemon
  server paige 127.0.0.1:${back}
`,
    },
    command: ['-db', '-f', `${dir}/haproxy.cfg`],
  }),
  caddy: (dir, front, back) => ({
    files: { Caddyfile: `{\n  admin off\n  auto_https off\n}\nhttps://:${front} {\n  bind 127.0.0.1\n  tls ${dir}/crt ${dir}/key\n  reverse_proxy 127.0.0.1:${back}\n}\n` },
    command: ['run', '--adapter', 'caddyfile', '--config', `${dir}/Caddyfile`],
    // Unlike the others it never gives up root by itself: Debian's unit starts it as another user.
    drops: true,
    env: { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
  }),
};

export const PROXIES = Object.keys(KINDS);

/** Why this proxy cannot be tried, or false. */
export const withoutProxy = (kind) => !program(kind) && `${kind} is not installed`;

/**
 * A proxy that speaks TLS on `front`, before what listens on `back`, in an empty directory that others may enter. `certificate` is the one
 * to be trusted. Closed by close().
 */
export function startProxy(kind, dir, front, back) {
  const { files, command, drops, env } = KINDS[kind](dir, front, back);
  const [key, certificate] = ['key', 'crt'].map((name) => path.join(dir, name));
  fs.chmodSync(dir, 0o755);
  selfSigned(NAME, key, certificate);
  fs.chmodSync(key, 0o644); // for who is no longer root when it reads it
  fs.writeFileSync(path.join(dir, 'both'), [certificate, key].map((file) => fs.readFileSync(file, 'utf8')).join(''));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(dir, name), text);
  const other = drops && process.getuid() === 0 ? ['setpriv', '--reuid=www-data', '--regid=www-data', '--clear-groups'] : [];
  if (other.length) fs.chmodSync(dir, 0o777);
  const [first, ...rest] = [...other, program(kind), ...command];
  const child = spawn(first, rest, { stdio: 'ignore', env: { ...process.env, ...env }, cwd: '/' });
  return { certificate: fs.readFileSync(certificate), close: () => child.kill('SIGTERM') };
}

/** The name by which people reach a proxy on this port; PUBLIC_HOSTS of the daemon has to hold `https://NAME`. */
export const publicHost = (front) => `${NAME}:${front}`;

/** A port for a proxy, and that name. */
export async function publicName() {
  const front = await freePort();
  return { front, host: publicHost(front) };
}

const upgraded = (text) => text.includes('\r\n\r\n');

/** Nobody without the token, everything with it: what has to hold behind any proxy. `log`, if any, gives what the daemon has written. */
export async function checkBehind({ front, host }, { certificate }, token, { log } = {}) {
  const through = { port: front, tls: { servername: NAME, ca: certificate } };
  const ask = (method, target, options = {}) => exchange(through, request(through, method, target, { host, ...options }));
  const bearer = { Authorization: `Bearer ${token}` };
  await until('the proxy answers', async () => (await ask('GET', '/health')).status === 200);
  await until('the daemon is ready, behind it', async () => (await ask('GET', '/ready')).status === 200);
  assert.equal((await ask('GET', '/metrics')).status, 403);
  if (log) await until('the visitor is logged', () => /request refused.*visitor=127\.0\.0\.1/.test(log()));
  assert.equal((await ask('GET', '/metrics', { host: `evil.example:${front}` })).status, 403);
  assert.equal((await ask('GET', '/metrics', { host: `evil.example:${front}`, headers: bearer })).status, 403, 'a name that is not among the public ones');
  assert.equal((await ask('GET', '/metrics', { headers: bearer })).status, 200);
  assert.equal((await ask('GET', '/metrics', { headers: { ...bearer, Origin: 'https://evil.example' } })).status, 403);

  const own = { Origin: `https://${host}` };
  const answer = await ask('POST', '/login', { headers: own, body: JSON.stringify({ token }) });
  assert.equal(answer.status, 204, answer.text);
  assert.match(answer.headers['set-cookie'], /; Secure$/);
  assert.equal((await ask('POST', '/login', { headers: { Origin: `http://${host}` }, body: JSON.stringify({ token }) })).status, 403, 'not from a page that came without TLS');
  const Cookie = answer.headers['set-cookie'].split(';')[0];
  const page = await ask('GET', '/', { headers: { Cookie, 'Sec-Fetch-Site': 'none' } });
  assert.equal(page.status, 200);
  assert.match(page.body, /<script/, 'the web client');

  const upgrade = `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
  const opens = async (headers) => (await exchange(through, `${upgrade}${headers}\r\n`, { until: upgraded })).status;
  assert.equal(await opens(`Cookie: ${Cookie}\r\nOrigin: https://${host}\r\n`), 101);
  assert.equal(await opens(`Cookie: ${Cookie}\r\nOrigin: https://evil.example\r\n`), 403);
  assert.equal(await opens(`Origin: https://${host}\r\n`), 403);
  await checkMcp(ask, through, host, bearer);
}

/** A tool's answer, and the stream on which a server speaks by itself: its first bytes come while it stays open. */
async function checkMcp(ask, through, host, bearer) {
  const accepts = { Accept: 'application/json, text/event-stream' };
  const post = (message, headers = {}) => ask('POST', '/mcp', { headers: { ...accepts, ...bearer, ...headers }, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  assert.equal((await ask('POST', '/mcp', { headers: accepts, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })).status, 403);
  const hello = await post({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'behind', version: '1' } } });
  assert.equal(hello.status, 200, hello.text);
  const session = { 'Mcp-Session-Id': hello.headers['mcp-session-id'] };
  assert.equal((await post({ method: 'notifications/initialized' }, session)).status, 202);
  const listed = await post({ id: 2, method: 'tools/list' }, session);
  assert.match(listed.body, /paige_get_buffer/);
  const stream = await exchange(through, request(through, 'GET', '/mcp', { host, headers: { Accept: 'text/event-stream', ...bearer, ...session } }).replace('Connection: close\r\n', ''),
    { until: (text) => /\r\n\r\n[^]*^id: .*$/m.test(text), ms: 30000 });
  assert.equal(stream.status, 200, stream.text);
  assert.match(stream.headers['content-type'], /^text\/event-stream/);
  assert.match(stream.body, /^id: /m, 'the first event');
  assert.equal(stream.ended, false, 'it stays open');
}
