// claude-code.mjs - the real Claude Code, offline: what plays its model is a script.
import { spawn, spawnSync } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { PAIGED } from './daemon.mjs';
import { ended } from './processes.mjs';

/** The program; null where it is not installed. */
export const CLAUDE_CODE = process.env.CLAUDE_CODE ?? (spawnSync('sh', ['-c', 'command -v claude'], { encoding: 'utf8' }).stdout.trim() || null);
const ANSWER_MS = 90_000;

/** The events of a streamed answer with one block: a text, or the call of a tool. */
function* events(model, number, { text = '', name, input }) {
  const block = name ? { type: 'tool_use', id: `toolu_${number}`, name, input: {} } : { type: 'text', text: '' };
  yield ['message_start', { message: { id: `msg_${number}`, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } } }];
  yield ['content_block_start', { index: 0, content_block: block }];
  yield ['content_block_delta', { index: 0, delta: name ? { type: 'input_json_delta', partial_json: JSON.stringify(input) } : { type: 'text_delta', text } }];
  yield ['content_block_stop', { index: 0 }];
  yield ['message_delta', { delta: { stop_reason: name ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 10 } }];
  yield ['message_stop', {}];
}

/** What the last message of a request brings back from a tool: {text, isError}, or undefined. */
function resultIn({ messages }) {
  const last = messages.at(-1)?.content;
  const result = Array.isArray(last) ? last.find((block) => block.type === 'tool_result') : undefined;
  if (!result) return undefined;
  const text = typeof result.content === 'string' ? result.content : (result.content ?? []).map((block) => block.text ?? '').join('\n');
  return { text, isError: result.is_error === true };
}

/**
 * Runs `claude -p PROMPT` with a plugin in the project of the daemon. The model calls the tools of `calls` ({name, input}), one after another, loading
 * those that Claude Code keeps back. {told: all that the model was sent first, as JSON; results: of the calls, in order}.
 */
export async function runClaudeCode(t, daemon, { prompt, plugin, calls }) {
  const results = [];
  const begun = new Set();
  let told = null;
  let number = 0;
  let loads = 0;
  const next = (body) => {
    const names = (body.tools ?? []).map((tool) => tool.name);
    if (names.length === 0) return { text: 'ok' }; // a title, or the like
    told ??= JSON.stringify(body.messages);
    const result = resultIn(body);
    if (result && begun.size > results.length) results.push(result);
    const call = calls[results.length];
    if (!call) return { text: 'Done.' };
    if (!names.includes(call.name)) {
      const loader = ['ToolSearch', 'WaitForMcpServers'].find((name) => names.includes(name));
      if (!loader || (loads += 1) > 8) return { text: `There is no ${call.name}` };
      return { name: loader, input: loader === 'ToolSearch' ? { query: `select:${call.name}`, max_results: 5 } : {} };
    }
    begun.add(call);
    return call;
  };
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    if (!request.url.startsWith('/v1/messages') || request.url.includes('count_tokens')) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"type":"error","error":{"type":"not_found_error","message":"no"}}');
      return;
    }
    const body = JSON.parse(text);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [type, data] of events(body.model, (number += 1), next(body))) response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.closeLater({ close: () => (server.closeAllConnections(), server.close()) });
  const env = {
    PATH: `${path.dirname(PAIGED)}:${process.env.PATH}`,
    HOME: t.directory('home'),
    PAIGE_PORT: String(daemon.port),
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
    ANTHROPIC_API_KEY: 'sk-ant-test',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
  const program = spawn(CLAUDE_CODE, ['-p', prompt, '--plugin-dir', plugin, '--permission-mode', 'acceptEdits'], { cwd: daemon.projectDir, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [program.stdout, program.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const timer = setTimeout(() => program.kill('SIGKILL'), ANSWER_MS);
  const { code, signal } = await ended(program);
  clearTimeout(timer);
  if (code !== 0) throw new Error(`Claude Code ended with ${code ?? signal}: ${said}`);
  return { told: told ?? '', results };
}
