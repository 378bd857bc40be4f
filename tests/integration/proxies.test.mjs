// Proxies in the environment: what lies on this machine is reached directly, what lies elsewhere through the proxy.
import assert from 'node:assert/strict';
import http from 'node:http';
import { QUESTION } from './lib/project.mjs';
import { scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

/** A proxy that lets nothing through: {url, seen}. */
async function proxy(context) {
  const seen = [];
  const server = http.createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.writeHead(403).end('blocked');
  });
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  context.closeLater({ close: () => (server.closeAllConnections(), server.close()) });
  return { url: `http://127.0.0.1:${server.address().port}`, seen };
}

/** Something that answers 200 to everything, by the name localhost: {url, seen}. */
async function chroma(context) {
  const seen = [];
  const server = http.createServer((request, response) => {
    seen.push(request.url);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  context.closeLater({ close: () => (server.closeAllConnections(), server.close()) });
  return { url: `http://localhost:${server.address().port}`, seen };
}

const WAYS = {
  'http_proxy and no no_proxy': (url) => ({ http_proxy: url, https_proxy: url, HTTP_PROXY: url, HTTPS_PROXY: url }),
  'all_proxy': (url) => ({ all_proxy: url, ALL_PROXY: url }),
  'no_proxy with other names alone': (url) => ({ http_proxy: url, no_proxy: '.corp.example', NO_PROXY: '.corp.example' }),
};
for (const [label, env] of Object.entries(WAYS)) {
  scenario(`${label}: loopback never goes to the proxy`, async (context) => {
    const { url, seen } = await proxy(context);
    const claude = await context.claude();
    const memory = await chroma(context);
    const daemon = await context.daemon({ env: { ...env(url), ANTHROPIC_BASE_URL: claude.url, MEMORY: 'chroma', CHROMADB_URL: memory.url } });
    await until('Chroma is asked', () => memory.seen.length > 0);
    const editor = await context.editor(daemon);
    const answer = await editor.ask('user:explain', QUESTION, ['explain:response', 'explain:error']);
    assert.equal(answer.type, 'explain:response', JSON.stringify(answer.payload));
    assert.equal(claude.requests.length, 1);
    assert.deepEqual(seen, [], 'with the key in them');
    assert.equal((await daemon.ctl('status')).code, 0);
    assert.deepEqual(seen, []);
  });
}

scenario('what is not on this machine goes to the proxy', async (context) => {
  const { url, seen } = await proxy(context);
  const daemon = await context.daemon({ env: { https_proxy: url, ANTHROPIC_BASE_URL: 'https://api.example.invalid', LLM_MAX_RETRIES: '0', LLM_FLOW_RETRY_MS: '0' } });
  const editor = await context.editor(daemon);
  const answer = await editor.ask('user:explain', QUESTION, ['explain:response', 'explain:error']);
  assert.equal(answer.type, 'explain:error');
  assert.ok(seen.length > 0 && seen.every((line) => line === 'CONNECT api.example.invalid:443'), JSON.stringify(seen));
});
