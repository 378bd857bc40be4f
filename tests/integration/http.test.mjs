// HTTP as bytes: bounds, slow and broken requests, methods, answers in one piece (R19, R21, R24).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { WORKERS } from './lib/daemon.mjs';
import { Guard } from './lib/guard.mjs';
import { descendants, signal, wakeups } from './lib/processes.mjs';
import { exchange, request } from './lib/raw-http.mjs';
import { closeFrame, RawWebSocket } from './lib/raw-websocket.mjs';
import { scenario, waiting } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

scenario('every method on every path: an answer, or 405 with Allow and one sentence', async (t) => {
  const daemon = await t.daemon();
  const allowed = { '/health': ['GET', 'HEAD'], '/ready': ['GET', 'HEAD'], '/metrics': ['GET', 'HEAD'], '/': ['GET', 'HEAD'], '/page/x': ['GET', 'HEAD'], '/mcp': ['GET', 'POST', 'DELETE'], '/mcp/': ['GET', 'POST', 'DELETE'], '/ws': ['GET'] };
  for (const [target, methods] of Object.entries(allowed)) {
    for (const method of METHODS) {
      const answer = await exchange(daemon, request(daemon, method, target));
      if (methods.includes(method)) assert.notEqual(answer.status, 501, `${method} ${target}`);
      else {
        assert.equal(answer.status, 405, `${method} ${target}`);
        for (const other of methods) assert.match(answer.headers.allow, new RegExp(`\\b${other}\\b`));
        if (method !== 'HEAD') assert.deepEqual(Object.keys(JSON.parse(answer.body)), ['error']);
      }
    }
  }
  for (const method of METHODS) {
    const answer = await exchange(daemon, request(daemon, method, '/no/such/thing'));
    assert.equal(answer.status, 404, method);
    if (method !== 'HEAD') assert.deepEqual(Object.keys(JSON.parse(answer.body)), ['error']);
  }
});

scenario('headers that may stand once are refused when they stand twice; lists may', async (t) => {
  const daemon = await t.daemon();
  const host = `Host: 127.0.0.1:${daemon.port}`;
  const get = (...lines) => exchange(daemon, ['GET /metrics HTTP/1.1', ...lines, 'Connection: close', '', ''].join('\r\n'));
  assert.equal((await get(host)).status, 200);
  for (const twice of [[host, host], [host, 'Host: evil.example'], [host, 'Origin: file://', 'Origin: https://evil.example'], [host, 'Authorization: Bearer a', 'Authorization: Bearer b'], [host, 'Mcp-Session-Id: a', 'Mcp-Session-Id: b'], [host, 'Content-Length: 0', 'Content-Length: 5'], [host, 'Content-Length: 0', 'Transfer-Encoding: chunked']]) assert.equal((await get(...twice)).status, 400, twice.join(' '));
  assert.equal((await get(host, 'Accept: a/b', 'Accept: c/d')).status, 200);
});

scenario('broken and oversized requests are refused, and the next one is served', async (t) => {
  const daemon = await t.daemon();
  const host = `Host: 127.0.0.1:${daemon.port}\r\n`;
  for (const [what, text, statuses] of [
    ['no HTTP', 'hello\r\n\r\n', [400]],
    ['no version', `GET /health\r\n${host}\r\n`, [400]],
    ['a header without a colon', `GET /health HTTP/1.1\r\n${host}nonsense\r\n\r\n`, [400]],
    ['a request line of 100 KB', `GET /${'x'.repeat(100000)} HTTP/1.1\r\n${host}\r\n`, [400, 413, 414]],
    ['a header of 100 KB', `GET /health HTTP/1.1\r\n${host}X: ${'x'.repeat(100000)}\r\n\r\n`, [400, 431]],
    ['ten thousand headers', `GET /health HTTP/1.1\r\n${host}${'X-Y: z\r\n'.repeat(20000)}\r\n`, [400, 431]],
    ['a negative length', `POST /mcp HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: -1\r\n\r\n`, [400]],
    ['a length of words', `POST /mcp HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: many\r\n\r\n`, [400]],
    ['a chunk of nonsense', `POST /mcp HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`, [400, 413]],
  ]) {
    const answer = await exchange(daemon, text);
    assert.ok(statuses.includes(answer.status), `${what}: ${answer.status}`);
  }
  const big = `{"x":"${'y'.repeat(11 * 1024 * 1024)}"}`;
  assert.equal((await exchange(daemon, request(daemon, 'POST', '/mcp', { body: big }))).status, 413, 'a body of 11 MiB');
  const chunk = 'y'.repeat(1024 * 1024);
  const chunked = `POST /mcp HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${`100000\r\n${chunk}\r\n`.repeat(11)}0\r\n\r\n`;
  assert.ok([413, NaN].includes((await exchange(daemon, chunked)).status), 'chunks of 11 MiB');
  assert.equal((await exchange(daemon, request(daemon, 'GET', '/health'))).status, 200);
});

scenario('what can be read in two ways is refused once, and the connection is closed', async (t) => {
  const daemon = await t.daemon();
  const host = `Host: 127.0.0.1:${daemon.port}\r\n`;
  const smuggled = `GET /metrics HTTP/1.1\r\n${host}\r\n`;
  const post = (fields) => `POST /mcp HTTP/1.1\r\n${host}Content-Type: application/json\r\n${fields}\r\n`;
  for (const [what, text, status] of [
    ['two lengths', `${post('Content-Length: 2\r\nContent-Length: 40\r\n')}{}`, 400],
    ['a blank before the colon', `${post('Content-Length : 2\r\n')}{}`, 400],
    ['a length with a sign', `${post('Content-Length: +2\r\n')}{}`, 400],
    ['a coding that is not known', `${post('Transfer-Encoding: gzip, chunked\r\n')}0\r\n\r\n`, 400],
    ['a chunk longer than its size', `${post('Transfer-Encoding: chunked\r\n')}2\r\n{}x\r\n0\r\n\r\n`, 400],
    ['a GET with a body', `GET /health HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\n{}`, 400],
    ['another authority in the target', `GET http://evil.example/health HTTP/1.1\r\n${host}\r\n`, 400],
    ['a target that begins with two slashes', `GET //evil.example/health HTTP/1.1\r\n${host}\r\n`, 400],
    ['NUL in Host', `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\0\r\n\r\n`, 400],
    ['NUL in the target', `GET /health\0x HTTP/1.1\r\n${host}\r\n`, 400],
    ['NUL in a value', `GET /health HTTP/1.1\r\n${host}X-Trace: a\0b\r\n\r\n`, 400],
    ['a length in hexadecimal', `${post('Content-Length: 0x2\r\n')}{}`, 400],
    ['a chunk size with a sign', `${post('Transfer-Encoding: chunked\r\n')}+2\r\n{}\r\n0\r\n\r\n`, 400],
    ['a chunk size with a prefix', `${post('Transfer-Encoding: chunked\r\n')}0x2\r\n{}\r\n0\r\n\r\n`, 400],
    ['an escaped NUL in the path', `GET /guards/idle/a%00b HTTP/1.1\r\n${host}\r\n`, 400],
    ['no Host', 'GET /health HTTP/1.1\r\n\r\n', 400],
    ['a foreign Host that asks before it sends', 'POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n', 403],
    ['too much that asks before it is sent', post('Content-Length: 209715200\r\nExpect: 100-continue\r\n'), 413],
  ]) {
    const first = await exchange(daemon, [text, 20, smuggled]);
    assert.equal(first.status, status, what);
    assert.equal(first.ended, true, `${what}: closed`);
    assert.equal(first.text.match(/HTTP\/1\.1 \d/g).length, 1, `${what}: one answer\n${first.text}`);
    assert.deepEqual(Object.keys(JSON.parse(first.body)), ['error'], what);
    const second = await exchange(daemon, [`GET /health HTTP/1.1\r\n${host}\r\n`, 30, text, 20, smuggled]);
    assert.deepEqual([...second.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((m) => m[1]), ['200', String(status)], `${what}, as the second request`);
    assert.equal(second.ended, true, `${what}: closed`);
    const third = await exchange(daemon, `GET /health HTTP/1.1\r\n${host}\r\n${text}${smuggled}`);
    assert.deepEqual([...third.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((m) => m[1]), ['200', String(status)], `${what}, in one packet with the first`);
  }
  const same = await exchange(daemon, `GET http://127.0.0.1:${daemon.port}/health HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
  assert.equal(same.status, 200, 'absolute form of our own');
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } } });
  const chunks = [...body].map((c) => `1;a=b;c="d"\r\n${c}\r\n`).join('');
  const extended = await exchange(daemon, `POST /mcp HTTP/1.1\r\n${host}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0;x\r\nHost: evil.example\r\n\r\n`);
  assert.equal(extended.status, 200, 'extensions and trailers are ignored');
  assert.match(extended.body, /"result"/);
});

scenario('answers come at once and in one piece: no answer on a kept connection waits for an acknowledgement', async (t) => {
  const daemon = await t.daemon();
  const socket = net.connect({ port: daemon.port, host: '127.0.0.1', noDelay: true });
  await new Promise((done) => socket.once('connect', done));
  const times = [];
  let pieces = 0;
  for (let i = 0; i < 200; i += 1) {
    const start = process.hrtime.bigint();
    socket.write(`GET /health HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\n\r\n`);
    let text = '';
    while (!text.endsWith('}}')) {
      text += await new Promise((done) => socket.once('data', (data) => done(data.toString())));
      pieces += 1;
    }
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  socket.destroy();
  times.sort((a, b) => a - b);
  assert.ok(times[100] < 20, `p50 ${times[100]} ms: Nagle and delayed acknowledgements would make it 40`);
  assert.equal(pieces, 200, 'header and body in one write');
});

scenario('requests in a row on one connection are answered in order', async (t) => {
  const daemon = await t.daemon();
  const one = (target) => `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\n\r\n`;
  const answer = await exchange(daemon, `${one('/health')}${one('/nothing')}${one('/ready')}${request(daemon, 'GET', '/metrics')}`);
  assert.deepEqual([...answer.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((m) => m[1]), ['200', '404', '200', '200']);
});

scenario('a client that reads late gets every answer whole, in order', async (t) => {
  const daemon = await t.daemon();
  const count = 1500; // several times what the sockets hold
  const socket = net.connect({ port: daemon.port, host: '127.0.0.1' }).setEncoding('utf8').pause();
  let text = '';
  socket.on('data', (data) => (text += data));
  for (let i = 0; i < count; i += 1) socket.write(`GET /${i % 2 ? 'health' : 'metrics'} HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\n\r\n`);
  socket.write(request(daemon, 'GET', '/nothing'));
  await sleep(300);
  assert.equal((await exchange(daemon, request(daemon, 'GET', '/health'))).status, 200, 'others are served meanwhile');
  socket.resume();
  await until('the last answer', () => socket.readableEnded, { ms: 60_000 }); // 750 of them ask every worker, and a sanitizer may be at work
  const answers = text.split('HTTP/1.1 ').slice(1).map((answer) => [answer.slice(0, 3), answer.slice(answer.indexOf('\r\n\r\n') + 4), Number(/content-length: (\d+)/i.exec(answer)[1])]);
  assert.equal(answers.length, count + 1);
  assert.deepEqual(answers.filter(([, body, length]) => Buffer.byteLength(body) !== length), []);
  assert.equal(answers.at(-1)[0], '404');
  assert.ok(answers.slice(0, -1).every(([status, body], i) => status === '200' && body.startsWith(i % 2 ? '{' : '#')));
});

scenario('many idle and many slow connections leave room for the rest', async (t) => {
  const daemon = await t.daemon();
  const sockets = Array.from({ length: 1000 }, (_, i) => {
    const socket = net.connect(daemon.port, '127.0.0.1');
    socket.on('error', () => {});
    if (i % 2) socket.write('GET /health HTTP/1.1\r\nHost: 127.0');
    return socket;
  });
  await until('all are connected', () => sockets.every((s) => !s.connecting));
  assert.equal((await exchange(daemon, request(daemon, 'GET', '/health'))).status, 200);
  for (const socket of sockets) socket.destroy();
});

scenario('requests that are never completed hold a bounded amount of memory together', async (t) => {
  const daemon = await t.daemon();
  const size = 10 * 1024 * 1024;
  const sockets = Array.from({ length: 20 }, () => {
    const socket = net.connect(daemon.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(size - 1, 0x20));
    return socket;
  });
  const metric = async (name) => Number((await exchange(daemon, request(daemon, 'GET', '/metrics'))).body.match(new RegExp(`^${name} (\\d+)$`, 'm'))[1]);
  await until('the last ones are cut', async () => (await metric('paige_http_slow_total')) >= 7);
  await sleep(200);
  assert.ok((await metric('paige_http_connections')) >= 11, 'the others are not');
  const memory = Number(fs.readFileSync(`/proc/${daemon.worker('gateway').pid}/status`, 'utf8').match(/^VmRSS:\s*(\d+)/m)[1]);
  assert.ok(memory < 250 * 1024 || process.env.ASAN_OPTIONS, `${memory} KB`);
  for (const socket of sockets) socket.destroy();
});

/** What /metrics says of the turns of the loops: by worker {buckets: [[limit, count]], count, sum, longest, cpu}. */
async function turns(daemon) {
  const { text } = await daemon.get('/metrics');
  const values = (name) => [...text.matchAll(new RegExp(`^${name}\\{worker="([a-z-]+)"(?:,le="([^"]+)")?\\} (\\S+)$`, 'gm'))].map(([, worker, limit, value]) => [worker, Number(value), limit]);
  const of = Object.fromEntries(values('paige_loop_turn_seconds_count').map(([worker, count]) => [worker, { count, buckets: [] }]));
  for (const [worker, count, limit] of values('paige_loop_turn_seconds_bucket')) of[worker].buckets.push([limit === '+Inf' ? Infinity : Number(limit), count]);
  for (const [name, key] of [['seconds_sum', 'sum'], ['longest_seconds', 'longest'], ['longest_cpu_seconds', 'cpu']]) for (const [worker, value] of values(`paige_loop_turn_${name}`)) of[worker][key] = value;
  return of;
}

scenario('what large requests took is given back once they are gone', async (t) => {
  const daemon = await t.daemon();
  const { pid } = daemon.worker('gateway');
  const rss = () => Number(fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;
  const before = rss();
  const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`;
  const sockets = Array.from({ length: 80 }, () => net.connect(daemon.port, '127.0.0.1').on('error', () => {}));
  for (const socket of sockets) socket.write(head + 'x'.repeat(900000));
  await until('they are held', () => rss() > before + 40);
  for (const socket of sockets) socket.destroy();
  // A sanitizer keeps what is freed for itself.
  if (!process.env.ASAN_OPTIONS) await until('memory is given back', () => rss() < before + 16);
});

scenario('/metrics shows how long the turns of every loop took; a worker that does not answer is left out', async (t) => {
  const daemon = await t.daemon();
  const before = await turns(daemon);
  await daemon.get('/health');
  const after = await turns(daemon);
  assert.deepEqual(Object.keys(after).sort(), [...WORKERS].sort());
  for (const [worker, { buckets, count, sum, longest, cpu }] of Object.entries(after)) {
    const counts = buckets.map(([, n]) => n), limits = buckets.map(([limit]) => limit);
    assert.deepEqual(counts, counts.toSorted((a, b) => a - b), worker);
    assert.deepEqual(limits, limits.toSorted((a, b) => a - b), worker);
    assert.equal(counts.at(-1), count, `${worker}: every turn is in the last bucket`);
    assert.ok(count > before[worker].count, `${worker}: asking it was a turn`);
    assert.ok(longest > 0 && longest <= sum && longest * count >= sum, `${worker}: ${longest} of ${sum} in ${count}`);
    assert.ok(cpu > 0 && cpu <= sum + 0.001, worker);
    const fits = buckets.filter(([limit]) => limit >= longest);
    assert.ok(fits.every(([, n]) => n === count), `${worker}: no turn is longer than the longest`);
  }
  const victim = daemon.worker('observer');
  signal(victim, 'SIGSTOP');
  assert.deepEqual(Object.keys(await turns(daemon)).sort(), WORKERS.filter((name) => name !== 'observer').sort());
  signal(victim, 'SIGCONT');
});

/** Milliseconds of the processor that the loop of a process takes within `ms`. */
async function busy(pid, ms) {
  const taken = () => Number(fs.readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  const before = taken();
  await sleep(ms);
  return taken() - before;
}

scenario('with nothing to do the gateway does nothing, whatever came and went, and while it stops', async (t) => {
  const daemon = await t.daemon();
  const get = `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\n\r\n`;
  const connect = (text) => {
    const socket = net.connect(daemon.port, '127.0.0.1');
    socket.on('error', () => {}).on('data', () => {});
    socket.write(text);
    return socket;
  };
  for (let round = 0; round < 3; round += 1) {
    const windows = await Promise.all(Array.from({ length: 8 }, () => RawWebSocket.open(daemon)));
    const kept = [get, get + get, get + get.slice(0, 20), get.slice(0, 20)].map(connect);
    await sleep(50);
    for (const window of windows.slice(0, 4)) window.write(closeFrame(1000));
    for (const window of windows.slice(4)) window.destroy();
    for (const socket of kept.slice(round)) socket.destroy();
  }
  const stuck = await RawWebSocket.open(daemon); // never answers the close
  const gateway = daemon.worker('gateway').pid;
  await sleep(200);
  assert.ok((await busy(gateway, 1000)) < 200, 'idle');
  process.kill(gateway, 'SIGTERM');
  await sleep(100);
  const waiting = connect(get); // for the next gateway
  assert.ok((await busy(gateway, 1000)) < 200, 'stopping');
  stuck.destroy();
  await until('the next gateway answers', () => waiting.bytesRead > 0);
  waiting.destroy();
});

scenario('more connections than descriptors: the rest waits and is served when some are gone, and the gateway stops then as ever', async (t) => {
  const daemon = await t.daemon({ descriptors: 200 });
  const get = `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\n\r\n`;
  const crowd = () =>
    Array.from({ length: 240 }, () => {
      const socket = net.connect(daemon.port, '127.0.0.1');
      socket.on('error', () => {}).on('data', () => {});
      socket.write(get);
      return socket;
    });
  const served = (sockets) => sockets.filter((socket) => socket.bytesRead > 0).length;
  const stuck = await RawWebSocket.open(daemon); // never answers the close, so that stopping takes its time
  let sockets = crowd();
  await until('some are served', () => served(sockets) >= 100);
  await sleep(300);
  assert.ok(served(sockets) < 200, `${served(sockets)} at once`);
  for (const socket of sockets.filter((s) => s.bytesRead > 0)) socket.destroy();
  const rest = sockets.filter((socket) => !socket.destroyed);
  await until('the rest is served', () => served(rest) === rest.length);
  for (const socket of rest) socket.destroy();
  sockets = crowd();
  await until('some are served', () => served(sockets) >= 100);
  await sleep(100);
  const { pid } = daemon.worker('gateway');
  process.kill(pid, 'SIGTERM');
  await sleep(100);
  for (const socket of sockets.filter((s) => s.bytesRead > 0)) socket.destroy();
  await until('the next gateway', () => daemon.worker('gateway') && daemon.worker('gateway').pid !== pid);
  // What the supervisor writes comes to us a moment later.
  await until('its end, with 0', () => new RegExp(`"worker ended" name=gateway pid=${pid} how="exit code 0`).test(daemon.output));
  stuck.destroy();
  const left = sockets.filter((socket) => !socket.destroyed);
  await until('those that waited are served by it', () => served(left) === left.length);
  for (const socket of left) socket.destroy();
});

scenario('a client that ends its side is answered', async (t) => {
  const daemon = await t.daemon();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'paige_get_buffer', arguments: { path: 'README.md' }, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } } });
  for (const text of [request(daemon, 'GET', '/health'), request(daemon, 'POST', '/mcp', { body, headers: { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'paige_get_buffer' } })]) {
    const socket = net.connect({ port: daemon.port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('utf8');
    let received = '';
    socket.on('data', (data) => (received += data));
    socket.end(text);
    await until('the end', () => socket.readableEnded);
    assert.match(received, /^HTTP\/1\.1 200 /);
    assert.match(received, /\r\n\r\n\{/);
  }
});

scenario('the web client: a strict policy, immutable names, nothing inline, and no second transfer', async (t) => {
  const daemon = await t.daemon();
  const get = (target, headers = {}) => exchange(daemon, request(daemon, 'GET', target, { headers }));
  const page = await get('/');
  assert.equal(page.status, 200);
  assert.equal(page.headers['content-security-policy'], "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'");
  assert.doesNotMatch(page.body, /<style|<script>|\son\w+=|javascript:|https?:\/\/(?!www\.w3\.org)/);
  assert.equal(page.headers['cache-control'], 'private, no-cache');
  assert.equal((await get('/', { 'If-None-Match': page.headers.etag })).status, 304);
  assert.equal((await get('/', { 'If-None-Match': '"another"' })).status, 200);
  const names = [...page.body.matchAll(/(?:src|href|data-chart)="(\/[^"]+)"/g)].map(([, name]) => name).filter((name) => name.startsWith('/page/'));
  assert.ok(names.length >= 5, names.join(' '));
  for (const name of names) {
    const plain = await fetch(daemon.url + name, { headers: { 'Accept-Encoding': 'identity' } });
    const packed = await fetch(daemon.url + name, { headers: { 'Accept-Encoding': 'br, gzip' } });
    assert.equal(plain.status, 200, name);
    assert.equal(plain.headers.get('content-encoding'), null, name);
    assert.equal(packed.headers.get('content-encoding'), 'gzip', name);
    assert.equal(await packed.text(), await plain.text(), name);
    for (const [header, value] of [['cache-control', 'private, max-age=31536000, immutable'], ['x-content-type-options', 'nosniff'], ['referrer-policy', 'no-referrer'], ['cross-origin-opener-policy', 'same-origin'], ['cross-origin-resource-policy', 'same-origin'], ['vary', 'Accept-Encoding']]) assert.equal(plain.headers.get(header), value, `${name} ${header}`);
    const raw = await exchange(daemon, request(daemon, 'HEAD', name, { headers: { 'Accept-Encoding': 'gzip' } }));
    assert.equal(raw.status, 200);
    assert.equal(raw.body, '');
  }
  for (const name of ['/page/', '/page/../', '/page/nothing.js', `${names[0]}x`]) assert.equal((await get(name)).status, 404, name);
});

scenario('the gateway holds no file and can open none', async (t) => {
  const daemon = await t.daemon();
  const fs = await import('node:fs');
  const { pid } = daemon.worker('gateway');
  await sleep(50);
  for (const fd of fs.readdirSync(`/proc/${pid}/fd`)) {
    const target = fs.readlinkSync(`/proc/${pid}/fd/${fd}`);
    assert.ok(target === '/dev/null' || /^(socket|pipe|anon_inode):/.test(target), `fd ${fd} is ${target}`);
  }
  assert.match(fs.readFileSync(`/proc/${pid}/status`, 'utf8'), /^Seccomp:\s*2$/m);
});

const slowly = process.env.PAIGE_QUICK ? () => {} : waiting; // takes most of a minute
slowly('a request that drips in is cut after its time, however steady it drips', async (t) => {
  const daemon = await t.daemon();
  const drip = ['GET /health HTTP/1.1\r\n', ...Array.from({ length: 50 }, (_, i) => [1000, `X-${i}: y\r\n`]).flat()];
  const answer = await exchange(daemon, drip, { ms: 52000 });
  assert.equal(answer.ended, true);
  assert.ok(answer.ms > 29000 && answer.ms < 40000, `${answer.ms} ms`);
});

waiting('a client that ends its side gets what takes long, too, and one that leaves is noticed', async (t) => {
  const daemon = await t.daemon();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'paige_get_buffer', arguments: { path: 'README.md' }, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } } });
  const text = request(daemon, 'POST', '/mcp', { body, headers: { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'paige_get_buffer' } });
  const streams = async () => Number((await daemon.get('/metrics')).text.match(/^paige_mcp_streams (\d+)/m)[1]);
  const ask = () => {
    const socket = net.connect({ port: daemon.port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('utf8');
    socket.received = '';
    socket.on('data', (data) => (socket.received += data)).end(text);
    return socket;
  };
  const { pid } = daemon.worker('fswatch');
  process.kill(pid, 'SIGSTOP');
  const waits = ask(), leaves = ask();
  await until('both are being sent a stream', async () => (await streams()) === 2);
  leaves.destroy();
  await until('the one that left is noticed', async () => (await streams()) === 1, { ms: 3000 });
  await sleep(600);
  assert.equal(waits.readableEnded, false);
  process.kill(pid, 'SIGCONT');
  await until('the end', () => waits.readableEnded);
  assert.match(waits.received, /"result"/);
});

waiting('clients that ask and do not read: the gateway holds a bounded amount for them, serves the others, and disconnects them', async (t) => {
  const daemon = await t.daemon();
  const guard = await Guard.create(daemon, 'interview', 'read-by-nobody', {});
  await guard.event({ type: 'start' });
  for (let i = 0; i < 48; i += 1) await guard.event({ type: 'candidate_message', text: `${i} ${'x'.repeat(65000)}` });
  const get = `GET ${guard.path}/events HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\n\r\n`;
  const metric = async (name) => Number((await exchange(daemon, request(daemon, 'GET', '/metrics'))).body.match(new RegExp(`^${name} (\\d+)$`, 'm'))[1]);
  const { pid } = daemon.worker('gateway');
  const memory = () => Number(fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s*(\d+)/m)[1]) / 1024;
  const before = memory();
  let most = 0;
  const deaf = Array.from({ length: process.env.PAIGE_QUICK ? 30 : 60 }, () => { // 190 MiB of answers, or 95
    const socket = net.connect(daemon.port, '127.0.0.1').pause();
    socket.on('error', () => {}).write(get.repeat(10)); // several times what the sockets hold
    return socket;
  });
  await until('they are disconnected', async () => {
    most = Math.max(most, memory());
    return (await metric('paige_http_slow_total')) >= deaf.length;
  }, { every: 100 });
  await until('nothing is left of them', async () => (await metric('paige_http_connections')) <= 1);
  // What is on its way from the guard engine comes on top of what is kept.
  assert.ok(most < before + 64 + 90 || process.env.ASAN_OPTIONS, `${most} MiB, ${before} before`);
  await daemon.says('gateway', /clients that did not read their answers were disconnected/);
  assert.equal(daemon.worker('gateway').pid, pid, 'it is the same gateway');
  for (const socket of deaf) socket.destroy();
});

// Some 12 a second; it was 70 before what repeats came in step and less often at rest. The sanitizers wake a thread of their own.
waiting('a daemon that nobody uses lets the machine sleep', async (t) => {
  const daemon = await t.daemon();
  const pids = [daemon.pid, ...descendants(daemon.pid).map(({ pid }) => pid)];
  await sleep(45_000); // what follows the start is over, and the workers are at rest
  const before = wakeups(pids);
  await sleep(10_000);
  const woken = wakeups(pids) - before;
  assert.ok(woken < 300, `${woken} times in 10 s`);
});
