// The MCP transport of both eras as bytes, on the fixture server: statuses, streams that break off and go on, long calls,
// cancelling, subscriptions, and what a crowd of clients leaves behind. MCP_FIXTURE names the program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import test from 'node:test';
import { inBackground } from '../integration/lib/background.mjs';
import { ended } from '../integration/lib/processes.mjs';

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const VERSION = '2026-07-28';
const META = { 'io.modelcontextprotocol/protocolVersion': VERSION, 'io.modelcontextprotocol/clientCapabilities': {} };
const BOTH = 'application/json, text/event-stream';

class Server {
  static async start() {
    const server = new Server();
    server.child = spawn(process.env.MCP_FIXTURE, ['0'], { stdio: ['ignore', 'pipe', 'pipe'] });
    server.log = '';
    server.child.stderr.setEncoding('utf8').on('data', (text) => (server.log += text));
    server.url = await new Promise((resolve, reject) => {
      server.child.stdout.setEncoding('utf8').once('data', (text) => resolve(new URL(text.trim())));
      server.child.once('exit', () => reject(new Error(`the fixture ended: ${server.log}`)));
    });
    return server;
  }

  async stop() {
    assert.equal(this.child.exitCode, null, `the fixture ended by itself: ${this.log}`);
    const end = ended(this.child);
    this.child.kill('SIGTERM');
    assert.equal((await end).code, 0);
    assert.doesNotMatch(this.log, /Sanitizer|runtime error/);
  }

  /** Starts a request; gives {status, headers, events, text, ended, request} once the headers are there. */
  open(method, { headers = {}, body, path = '/mcp', agent = false } = {}) {
    return new Promise((resolve, reject) => {
      const data = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
      const request = http.request({ host: '127.0.0.1', port: this.url.port, path, method, agent, headers: { accept: BOTH, ...(data !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(data) }), ...headers } });
      request.on('error', reject);
      request.on('response', (response) => {
        const answer = { status: response.statusCode, headers: response.headers, text: '', ended: false, request };
        response.setEncoding('utf8').on('data', (text) => (answer.text += text));
        for (const event of ['end', 'close', 'error']) response.on(event, () => (answer.ended = true));
        Object.defineProperty(answer, 'events', { get: () => parse(answer.text) });
        Object.defineProperty(answer, 'messages', { get: () => answer.events.filter((e) => e.data).map((e) => JSON.parse(e.data)) });
        resolve(answer);
      });
      request.end(data);
    });
  }

  /** The whole answer. */
  async send(method, options) {
    const answer = await this.open(method, options);
    await until(() => answer.ended, 'the answer ends');
    const type = answer.headers['content-type'] ?? '';
    answer.rpc = type.startsWith('application/json') ? JSON.parse(answer.text) : answer.messages.at(-1);
    return answer;
  }

  async session(version = '2025-11-25') {
    const answer = await this.send('POST', { body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 't', version: '1' } } } });
    assert.equal(answer.status, 200);
    return answer.headers['mcp-session-id'];
  }
}

const parse = (text) =>
  text.split('\n\n').filter((block) => block && !block.startsWith(':')).map((block) => Object.fromEntries(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])));

async function until(condition, what, ms = 60000) {
  const end = Date.now() + ms;
  while (!condition()) {
    if (Date.now() > end) assert.fail(`not within ${ms} ms: ${what}`);
    await sleep(5);
  }
}

const call = (id, name, args = {}, meta) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, ...(meta && { _meta: meta }) } });
const modern = (name) => ({ 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': name });

async function play(body) {
  const server = await Server.start();
  try {
    await body(server);
    await server.stop();
  } finally {
    server.child.kill('SIGKILL');
  }
}

function scenario(name, body) {
  test(name, () => play(body));
}

scenario('legacy: statuses and codes', async (server) => {
  const id = await server.session('2025-06-18');
  const list = { jsonrpc: '2.0', id: 7, method: 'tools/list' };
  const with_ = (headers = {}) => ({ 'mcp-session-id': id, ...headers });
  const unknown = '00000000-0000-8000-8000-000000000000';
  const cases = [
    ['no session', 'POST', { body: list }, 400, -32000],
    ['an unknown session, before its version', 'POST', { body: list, headers: { 'mcp-session-id': unknown, 'mcp-protocol-version': '1999-01-01' } }, 404, -32001],
    ['a session id that is no UUID', 'POST', { body: list, headers: { 'mcp-session-id': 'x' } }, 404, -32001],
    ['an unsupported version', 'POST', { body: list, headers: with_({ 'mcp-protocol-version': '1999-01-01' }) }, 400, -32000],
    ['another supported version', 'POST', { body: list, headers: with_({ 'mcp-protocol-version': '2025-11-25' }) }, 200],
    ['no JSON', 'POST', { body: '{', headers: with_() }, 400, -32700],
    ['a batch', 'POST', { body: [list], headers: with_() }, 400, -32600],
    ['an empty batch', 'POST', { body: '[]', headers: with_() }, 400, -32600],
    ['no message', 'POST', { body: { a: 1 }, headers: with_() }, 400, -32600],
    ['a null id', 'POST', { body: { ...list, id: null }, headers: with_() }, 400, -32600],
    ['params that are no object', 'POST', { body: { ...list, params: [] }, headers: with_() }, 400, -32600],
    ['an unknown method', 'POST', { body: { ...list, method: 'no/such' }, headers: with_() }, 200, -32601],
    ['an unknown tool', 'POST', { body: call(1, 'no_such'), headers: with_() }, 200, -32602],
    ['another content type', 'POST', { body: list, headers: with_({ 'content-type': 'text/plain' }) }, 415],
    ['a content type with parameters', 'POST', { body: list, headers: with_({ 'content-type': 'Application/JSON; charset=utf-8' }) }, 200],
    ['nothing acceptable', 'POST', { body: list, headers: with_({ accept: 'text/html' }) }, 406],
    ['streams only', 'POST', { body: list, headers: with_({ accept: 'text/event-stream' }) }, 200],
    ['a notification', 'POST', { body: { jsonrpc: '2.0', method: 'notifications/whatever' }, headers: with_() }, 202],
    ['a response to nothing', 'POST', { body: { jsonrpc: '2.0', id: 99, result: {} }, headers: with_() }, 202],
    ['extra headers of the other era', 'POST', { body: list, headers: with_({ 'mcp-method': 'x', 'mcp-name': 'y' }) }, 200],
    ['GET without a session', 'GET', {}, 405],
    ['GET of an unknown session', 'GET', { headers: { 'mcp-session-id': unknown } }, 404, -32001],
    ['GET that takes no stream', 'GET', { headers: with_({ accept: 'application/json' }) }, 406],
    ['DELETE without a session', 'DELETE', {}, 400, -32000],
    ['DELETE of an unknown session', 'DELETE', { headers: { 'mcp-session-id': unknown } }, 404, -32001],
  ];
  for (const [what, method, options, status, code] of cases) {
    const answer = await server.send(method, options);
    assert.equal(answer.status, status, what);
    if (code) assert.equal(answer.rpc.error.code, code, what);
    if (status === 202) assert.deepEqual([answer.text, answer.headers['content-length'], answer.headers['content-type']], ['', '0', undefined], what);
    if (status === 405) assert.match(answer.headers.allow, /POST/);
  }
  for (const requestId of [0, '', 'seven', -1, 2 ** 53 - 1]) assert.equal((await server.send('POST', { body: { ...list, id: requestId }, headers: with_() })).rpc.id, requestId);
  assert.equal((await server.send('DELETE', { headers: with_() })).status, 204);
  assert.equal((await server.send('DELETE', { headers: with_() })).status, 404);
  assert.equal((await server.send('POST', { body: list, headers: with_() })).status, 404);
});

scenario('legacy: one stream of a session, the newest; it ends with the session', async (server) => {
  const headers = { 'mcp-session-id': await server.session() };
  const first = await server.open('GET', { headers });
  assert.equal(first.headers['content-type'], 'text/event-stream');
  assert.equal(first.headers['x-accel-buffering'], 'no');
  await until(() => first.events.length === 1, 'the event that names the stream');
  assert.equal(first.events[0].data, '');
  const second = await server.open('GET', { headers });
  await until(() => first.ended, 'the older one ends');
  await server.send('POST', { headers, body: call(1, 'test_trigger_tool_change') });
  await until(() => second.messages.length === 1, 'the notification');
  assert.equal(second.messages[0].method, 'notifications/tools/list_changed');
  second.request.destroy();
  await sleep(50);
  await server.send('POST', { headers, body: call(2, 'test_trigger_prompt_change') });
  const third = await server.open('GET', { headers: { ...headers, 'last-event-id': second.events.at(-1).id } });
  await until(() => third.messages.length === 1, 'what was missed');
  assert.equal(third.messages[0].method, 'notifications/prompts/list_changed');
  const odd = await server.open('GET', { headers: { ...headers, 'last-event-id': 'nonsense' } });
  assert.equal(odd.status, 200, 'an id that is not understood starts live');
  await server.send('DELETE', { headers });
  await until(() => odd.ended, 'the stream ends');
  const older = await server.open('GET', { headers: { 'mcp-session-id': await server.session('2025-06-18') } });
  await sleep(50);
  assert.deepEqual(older.events, [], 'older clients get no event without data');
});

scenario('legacy: a stream that breaks off mid-call goes on elsewhere, and the call with it', async (server) => {
  const headers = { 'mcp-session-id': await server.session() };
  const broken = await server.open('POST', { headers, body: call(5, 'test_reconnection') });
  await until(() => broken.ended, 'the stream breaks off');
  assert.equal(broken.messages.length, 0);
  const { id, retry } = broken.events[0];
  assert.ok(Number(retry) > 0);
  for (let i = 0; i < 2; i += 1) {
    const resumed = await server.open('GET', { headers: { ...headers, 'last-event-id': id } });
    await until(() => resumed.ended, 'the result');
    assert.deepEqual(resumed.messages.map((m) => m.id), [5], 'again, if the client lost it');
  }
  // The client breaks off: that is no cancelling.
  const cut = await server.open('POST', { headers, body: call(6, 'test_tool_with_progress', {}, { progressToken: 0 }) });
  await until(() => cut.messages.length >= 1, 'progress');
  cut.request.destroy();
  await sleep(300);
  const rest = await server.open('GET', { headers: { ...headers, 'last-event-id': cut.events.at(-1).id } });
  await until(() => rest.ended, 'the rest');
  assert.equal(rest.messages.at(-1).id, 6);
  const progress = [...cut.messages, ...rest.messages].filter((m) => m.method === 'notifications/progress').map((m) => m.params);
  assert.deepEqual(progress.map((p) => p.progress), [0, 50, 100], 'nothing twice, nothing lost');
  assert.ok(progress.every((p) => p.progressToken === 0));
  const stranger = await server.open('GET', { headers: { 'mcp-session-id': await server.session(), 'last-event-id': id } });
  await sleep(100);
  assert.deepEqual(stranger.messages, [], 'streams of different sessions never mix');
});

scenario('legacy: a cancelled call gets no answer; one that is not there is ignored', async (server) => {
  const headers = { 'mcp-session-id': await server.session('2025-06-18') };
  const cancel = (requestId) => server.send('POST', { headers, body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } } });
  const waiting = server.send('POST', { headers, body: call('w', 'test_wait', { seconds: 20 }) });
  await sleep(100);
  assert.equal((await cancel('other')).status, 202);
  const start = Date.now();
  assert.equal((await cancel('w')).status, 202);
  const answer = await waiting;
  assert.ok(Date.now() - start < 1000, 'at once');
  assert.equal(answer.text, '');
});

scenario('modern: statuses and codes', async (server) => {
  const body = (method, params = {}, meta = META) => ({ jsonrpc: '2.0', id: 'a', method, params: { ...params, ...(meta && { _meta: meta }) } });
  const headers = (method, extra = {}) => ({ 'mcp-protocol-version': VERSION, 'mcp-method': method, ...extra });
  const name = { name: 'test_simple_text', arguments: {} };
  const cases = [
    ['list', body('tools/list'), headers('tools/list'), 200],
    ['header names in capitals', body('tools/list'), { 'MCP-PROTOCOL-VERSION': VERSION, 'MCP-METHOD': ' tools/list ' }, 200],
    ['session and event ids are ignored', body('tools/list'), headers('tools/list', { 'mcp-session-id': 'x', 'last-event-id': 'y' }), 200],
    ['call', body('tools/call', name), headers('tools/call', { 'mcp-name': 'test_simple_text' }), 200],
    ['name in base64', body('tools/call', name), headers('tools/call', { 'mcp-name': `=?base64?${Buffer.from('test_simple_text').toString('base64')}?=` }), 200],
    ['no _meta', body('tools/list', {}, null), headers('tools/list'), 400, -32602],
    ['no capabilities', body('tools/list', {}, { 'io.modelcontextprotocol/protocolVersion': VERSION }), headers('tools/list'), 400, -32602],
    ['no version header', body('tools/list'), { 'mcp-method': 'tools/list' }, 400, -32020],
    ['no method header', body('tools/list'), { 'mcp-protocol-version': VERSION }, 400, -32020],
    ['method header of another case', body('tools/list'), headers('Tools/List'), 400, -32020],
    ['no name header', body('tools/call', name), headers('tools/call'), 400, -32020],
    ['another name', body('tools/call', name), headers('tools/call', { 'mcp-name': 'other' }), 400, -32020],
    ['name in broken base64', body('tools/call', name), headers('tools/call', { 'mcp-name': '=?base64?!?=' }), 400, -32020],
    ['a version to come', body('tools/list', {}, { ...META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }), headers('tools/list', { 'mcp-protocol-version': '2099-01-01' }), 400, -32022],
    ['unknown method', body('no/such'), headers('no/such'), 404, -32601],
    ['ping', body('ping'), headers('ping'), 404, -32601],
    ['initialize of this era', body('initialize'), headers('initialize'), 404, -32601],
    ['setLevel', body('logging/setLevel'), headers('logging/setLevel'), 404, -32601],
  ];
  for (const [what, message, sent, status, code] of cases) {
    const answer = await server.send('POST', { body: message, headers: sent });
    assert.equal(answer.status, status, what);
    assert.equal(answer.rpc.id, 'a', what);
    assert.equal(answer.headers['mcp-session-id'], undefined, what);
    if (code) assert.equal(answer.rpc.error.code, code, what);
    else assert.equal(answer.rpc.result.resultType, 'complete', what);
  }
});

scenario('modern: a subscription is acknowledged, told of what it asked for, and of nothing else', async (server) => {
  const listen = (id, notifications) => server.open('POST', { headers: { 'mcp-protocol-version': VERSION, 'mcp-method': 'subscriptions/listen' }, body: { jsonrpc: '2.0', id, method: 'subscriptions/listen', params: { notifications, _meta: META } } });
  const tools = await listen('listen:0', { toolsListChanged: true, resourcesListChanged: true });
  const prompts = await listen(7, { promptsListChanged: true });
  await until(() => tools.messages.length === 1 && prompts.messages.length === 1, 'acknowledgements');
  assert.deepEqual(tools.messages[0].params.notifications, { toolsListChanged: true }, 'resources do not change here');
  await server.send('POST', { headers: modern('test_trigger_tool_change'), body: call(1, 'test_trigger_tool_change', {}, META) });
  await until(() => tools.messages.length === 2, 'the notification');
  assert.equal(tools.messages[1].method, 'notifications/tools/list_changed');
  for (const m of tools.messages) assert.equal(m.params._meta['io.modelcontextprotocol/subscriptionId'], 'listen:0');
  assert.equal(prompts.messages[0].params._meta['io.modelcontextprotocol/subscriptionId'], 7);
  await sleep(100);
  assert.equal(prompts.messages.length, 1);
  assert.ok(tools.events.every((e) => e.id === undefined), 'no event ids in this era');
});

/** A sanitizer keeps freed memory for a while. */
const exact = !process.env.SANITIZED;
const status = (server, name) => Number(fs.readFileSync(`/proc/${server.child.pid}/status`, 'utf8').match(new RegExp(`^${name}:\\s*(\\d+)`, 'm'))[1]);
const descriptors = (server) => fs.readdirSync(`/proc/${server.child.pid}/fd`).length;

scenario('a thousand idle sessions are small', async (server) => {
  await server.session();
  const before = status(server, 'VmRSS');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
  for (let i = 0; i < 1000; i += 1) await server.send('POST', { agent, body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } } });
  agent.destroy();
  const grown = status(server, 'VmRSS') - before;
  assert.ok(!exact || grown < 10240, `${grown} KB more`);
});

scenario('clients that connect and vanish leave nothing behind', async (server) => {
  const rounds = process.env.PAIGE_QUICK ? 1000 : 10000;
  const one = async () => {
    const headers = { 'mcp-session-id': await server.session() };
    const stream = await server.open('GET', { headers });
    stream.request.destroy();
  };
  for (let i = 0; i < 1200; i += 20) await Promise.all(Array.from({ length: 20 }, one));
  await sleep(200);
  const [memory, files] = [status(server, 'VmRSS'), descriptors(server)];
  for (let i = 0; i < rounds; i += 20) await Promise.all(Array.from({ length: 20 }, one));
  await sleep(500);
  assert.ok(descriptors(server) <= files + 2, `${descriptors(server)} descriptors, ${files} before`);
  assert.ok(!exact || status(server, 'VmRSS') - memory < 2048, `${status(server, 'VmRSS')} KB, ${memory} before`);
});

const slowly = process.env.PAIGE_QUICK ? () => {} : inBackground(play);
slowly('a silent call becomes a stream, shows life, and is kept alive by comments', async (server) => {
  const headers = { 'mcp-session-id': await server.session('2025-06-18') };
  const legacy = server.open('POST', { headers, body: call(1, 'test_wait', { seconds: 22 }, { progressToken: 'p' }) });
  const other = server.open('POST', { headers: modern('test_wait'), body: call(2, 'test_wait', { seconds: 22 }, META) });
  const start = Date.now();
  const [withToken, without] = await Promise.all([legacy, other]);
  assert.ok(Date.now() - start < 9000, 'headers come long before the answer');
  await until(() => withToken.ended && without.ended, 'the answers', 30000);
  const values = withToken.messages.filter((m) => m.method === 'notifications/progress').map((m) => m.params.progress);
  assert.ok(values.length >= 1);
  assert.deepEqual(values, [...new Set(values)].sort((a, b) => a - b), 'progress rises');
  assert.equal(withToken.messages.at(-1).result.content[0].text, 'Waited');
  assert.equal(without.messages.length, 1, 'no progress without a token');
  assert.match(without.text, /^:/m, 'comments instead');
});
