#!/usr/bin/env node
// fake-agent.mjs - a program that speaks stream-json as Claude Code does, and does what its prompts say:
//
//   hello            one answer                     work MS      a turn of that length, writing all the while
//   silence          a turn that writes nothing     noise        a line that is not JSON, then an answer
//   children         leaves processes behind: one in its group, one in a session of its own, one that ignores TERM
//   deaf             ignores INT and TERM from now on     crash MS  works so long, then ends with 3 and a word on stderr
//   flood N          that many events at once       large BYTES  an event of that size
//   numbers N        an event of that many numbers  many N BYTES that many events of that size
//   stay BYTES       an event of that size, and then a turn that writes nothing
//   gather N         a turn that takes up the next N prompts, and then writes nothing
//   leave BYTES      an event of that size, and ends with 0 at once
//   where            answers its directory, arguments and the names in its environment
//   tools            calls paige_get_session_state of the MCP server "paige", if it was given one, and answers what came
//   recall           answers what it was told before in this session, and what it answered
//   old              does not read control messages from now on: only a signal interrupts it
//   ask TOOL [BYTES] asks for permission to use it, with input of that size, and answers what it was told
//   question         puts a question, likewise         withdraw TOOL  asks, and does not want to know any more
//
// It keeps each conversation where Claude Code does, and resumes only what is kept there for its directory.
// FAKE_AGENT_LINGER_MS: how long it takes to end after TERM.
//
// Strict: a flag that is missing, or a message of another shape, ends it with 64; so does another one in the same session.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import readline from 'node:readline';
import { Conversation } from './conversation.mjs';

const args = process.argv.slice(2);
const refuse = (why) => {
  process.stderr.write(`fake-agent: ${why}\n`);
  process.exit(64);
};
for (const flag of ['--print', '--verbose', '--include-partial-messages', '--replay-user-messages'])
  if (!args.includes(flag)) refuse(`${flag} is missing`);
if (args[args.indexOf('--permission-prompt-tool') + 1] !== 'stdio') refuse('--permission-prompt-tool must be stdio');
for (const flag of ['--input-format', '--output-format'])
  if (args[args.indexOf(flag) + 1] !== 'stream-json') refuse(`${flag} must be stream-json`);
const [how, id] = args.slice(-2);
if (!['--session-id', '--resume'].includes(how) || !/^[0-9a-f-]{36}$/.test(id)) refuse(`the session pair must be last: ${args.join(' ')}`);

const conversation = new Conversation(process.cwd(), id);
const fail = (why) => {
  process.stderr.write(`${why}\n`);
  process.exit(1);
};
if (how === '--resume' && !conversation.exists()) fail(`No conversation found with session ID: ${id}`);
if (how === '--session-id' && conversation.exists()) fail(`Error: Session ID ${id} is already in use.`);
const other = conversation.occupy(process.pid);
if (other) refuse(`process ${other} is in session ${id}`);

const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let interrupted = null;
let deaf = false;
let old = false;
let leaving = false;
let gathering = 0; // prompts that the turn still takes up
const asked = new Map(); // request_id: function that takes the answer

// As Claude Code: the turn is told to have ended, and then the program ends, whatever it was still given to do.
process.on('SIGINT', () => {
  if (deaf) return;
  leaving = true;
  interrupted?.();
  setTimeout(() => process.exit(0), 20);
});
process.on('SIGTERM', () => {
  if (!deaf) setTimeout(() => process.exit(143), Number(process.env.FAKE_AGENT_LINGER_MS ?? 0));
});

function result(text, more = {}) {
  conversation.answer(text);
  write({ type: 'result', subtype: 'success', is_error: false, result: text, session_id: id, ...more });
}

function leaveChildren() {
  const ignoring = "process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); setInterval(() => {}, 1000)";
  const made = [
    spawn('sleep', ['600'], { stdio: 'ignore' }),
    spawn('sleep', ['600'], { stdio: 'ignore', detached: true }),
    spawn(process.execPath, ['-e', ignoring], { stdio: ['ignore', 'inherit', 'inherit'], detached: true }),
    // Its parent ends at once: nobody but a subreaper ever hears of it again.
    spawn('sh', ['-c', 'setsid sleep 600 & echo $!'], { stdio: ['ignore', 'pipe', 'ignore'] }),
  ];
  return new Promise((resolve) => {
    made[3].stdout.once('data', (text) => resolve([...made.slice(0, 3).map((child) => child.pid), Number(text)]));
  });
}

function ask(tool, input) {
  const request_id = `request-${asked.size + 1}-${process.pid}`;
  write({ type: 'control_request', request_id, request: { subtype: 'can_use_tool', tool_name: tool, display_name: tool, input, tool_use_id: 'toolu_1' } });
  return { request_id, answer: new Promise((resolve) => asked.set(request_id, resolve)) };
}

function takeControl(message) {
  if (message.type === 'control_response') {
    const { request_id } = message.response;
    if (!asked.has(request_id)) refuse(`an answer to nothing: ${JSON.stringify(message)}`);
    asked.get(request_id)(message.response);
  } else {
    if (message.request?.subtype !== 'interrupt' || !message.request_id) refuse(`not an interrupt: ${JSON.stringify(message)}`);
    if (old || deaf) return;
    write({ type: 'control_response', response: { subtype: 'success', request_id: message.request_id } });
    interrupted?.();
  }
}

/** As Claude Code: a file of servers, by --mcp-config. */
async function callPaige() {
  const file = args[args.indexOf('--mcp-config') + 1];
  if (!args.includes('--mcp-config')) return { file: null };
  const { url, headers } = JSON.parse(fs.readFileSync(file, 'utf8')).mcpServers.paige;
  const VERSION = '2026-07-28';
  const name = 'paige_get_session_state';
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': name },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { include: ['session'] }, _meta: { 'io.modelcontextprotocol/protocolVersion': VERSION, 'io.modelcontextprotocol/clientCapabilities': {}, 'io.modelcontextprotocol/clientInfo': { name: 'fake-agent', version: '1' } } } }),
  });
  return { file, mode: (fs.statSync(file).mode & 0o777).toString(8), token: headers.Authorization, status: answer.status, text: await answer.text() };
}

const QUESTION = { questions: [{ question: 'Which?', header: 'Pick', options: [{ label: 'A', description: 'a' }, { label: 'B', description: 'b' }], multiSelect: false }] };

const until = { work: (ms) => sleep(Number(ms)), silence: () => sleep(3600_000) };

async function turn(text) {
  const [word, operand, size] = text.split(' ');
  write({ type: 'system', subtype: 'init', session_id: id });
  if (word === 'crash') {
    if (operand) {
      write({ type: 'stream_event', event: { type: 'message_start' } });
      await sleep(Number(operand));
    }
    process.stderr.write('something is wrong with the login\n');
    process.exit(3);
  } else if (word === 'work' || word === 'silence') {
    if (word === 'work') write({ type: 'stream_event', event: { type: 'message_start' } });
    const ticks = word === 'work' && setInterval(() => write({ type: 'stream_event', event: { type: 'content_block_delta' } }), 200);
    const stopped = new Promise((resolve) => (interrupted = () => resolve('interrupted')));
    const how = await Promise.race([until[word](operand).then(() => 'done'), stopped]);
    clearInterval(ticks);
    interrupted = null;
    result(how, how === 'interrupted' ? { subtype: 'error_during_execution', is_error: true } : {});
  } else if (word === 'noise') {
    process.stdout.write('this is not JSON\n');
    result('noise');
  } else if (word === 'children') {
    result(JSON.stringify(await leaveChildren()));
  } else if (word === 'deaf') {
    deaf = true;
    result('deaf');
  } else if (word === 'old') {
    old = true;
    result('old');
  } else if (word === 'ask' || word === 'question' || word === 'withdraw') {
    const { request_id, answer } = word === 'question' ? ask('AskUserQuestion', QUESTION) : ask(operand, { command: size ? 'x'.repeat(Number(size)) : 'ls' });
    if (word === 'withdraw') write({ type: 'control_cancel_request', request_id });
    result(word === 'withdraw' ? 'withdrawn' : size ? String(JSON.stringify(await answer).length) : JSON.stringify((await answer).response));
  } else if (word === 'flood') {
    process.stdout.write(Array.from({ length: Number(operand) }, (_, n) => `${JSON.stringify({ type: 'stream_event', n })}\n`).join(''));
    result('flood');
  } else if (word === 'large') {
    write({ type: 'assistant', text: 'x'.repeat(Number(operand)) });
    result('large');
  } else if (word === 'numbers') {
    process.stdout.write(`{"type":"assistant","numbers":[${'1,'.repeat(Number(operand))}1]}\n`);
    result('numbers');
  } else if (word === 'stay') {
    write({ type: 'assistant', text: 'x'.repeat(Number(operand)) });
    await new Promise((resolve) => (interrupted = resolve));
    interrupted = null;
    result('interrupted');
  } else if (word === 'gather') {
    gathering = Number(operand);
    write({ type: 'stream_event', event: { type: 'message_start' } });
    await new Promise((resolve) => (interrupted = resolve));
    interrupted = null;
    result('interrupted');
  } else if (word === 'leave') {
    process.stdout.write(`${JSON.stringify({ type: 'assistant', text: 'x'.repeat(Number(operand)) })}\n`, () => process.exit(0));
    await sleep(3600_000);
  } else if (word === 'many') {
    for (let n = 0; n < Number(operand); n += 1) write({ type: 'assistant', n, text: 'x'.repeat(Number(size)) });
    result('many');
  } else if (word === 'where') {
    result(JSON.stringify({ cwd: process.cwd(), args, names: Object.keys(process.env) }));
  } else if (word === 'tools') {
    result(JSON.stringify(await callPaige()));
  } else if (word === 'recall') {
    result(JSON.stringify(conversation.answered()));
  } else {
    result(`you said ${text}`);
  }
}

let last = Promise.resolve();
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type.startsWith('control_')) return takeControl(message);
  if (!/^[0-9a-f-]{36}$/.test(message.uuid)) refuse(`a user message without its uuid: ${line}`);
  if (message.type !== 'user' || message.message?.role !== 'user') refuse(`not a user message: ${line}`);
  const { content } = message.message;
  const text = typeof content === 'string' ? content : content.map((block) => block.text).join(' ');
  const takeUp = () => {
    conversation.ask(text);
    write({ type: 'user', message: message.message, uuid: message.uuid, isReplay: true });
  };
  if (gathering > 0) {
    gathering -= 1;
    takeUp();
    return;
  }
  last = last.then(() => {
    if (leaving) return undefined;
    takeUp();
    return turn(text);
  });
});
