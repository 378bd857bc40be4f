// /agent: Claude Code under supervision. A scripted program stands in for it; all else is real.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';
import { AgentClient } from './lib/agent-client.mjs';
import { AgentPerson } from './lib/agent-person.mjs';
import { WORKERS } from './lib/daemon.mjs';
import { alive, descendants } from './lib/processes.mjs';
import { scenario, waiting } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const FAKE = fileURLToPath(new URL('agent/fake-agent.mjs', import.meta.url));
const WORKERS_WITHOUT = [...WORKERS].sort();

/** The pause between two looks at a working process; no setting changes it. */
const RECHECK_MS = 30000;

async function daemonWithAgent(context, env = {}) {
  const daemon = await context.daemon({ env: { AGENT_COMMAND: `${process.execPath} ${FAKE}`, ...env } });
  for (const name of ['one', 'two']) fs.mkdirSync(path.join(daemon.projectDir, name));
  return daemon;
}

const connect = async (context, daemon, options) => context.closeLater(await AgentClient.connect(daemon, options));
const log = (daemon) => fs.readFileSync(path.join(daemon.dataDir, 'logs', 'agent.log'), 'utf8');

/** Everything below the worker, or that has carried its mark. */
function agents(daemon) {
  const worker = daemon.worker('agent');
  return worker ? descendants(worker.pid) : [];
}

/** How often a session has ended: only then may it be joined anew. */
const endsOf = (daemon, sessionId) => log(daemon).split(`msg="agent session ended" session=${sessionId}`).length - 1;

/** Processes of a list of pids that are still there. */
const left = (pids) => pids.filter((pid) => fs.existsSync(`/proc/${pid}`) && !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8')));

/** The log of the agent worker for people: seconds since its first line, and what happened. */
function transcript(text, pids) {
  const lines = text.trim().split('\n').map((line) => ({ at: Date.parse(line.match(/^ts=(\S+)/)[1]), said: line.replace(/^.*? msg=/, '') }));
  const told = lines.map(({ at, said }) => `${((at - lines[0].at) / 1000).toFixed(3).padStart(8)} s  ${said}`);
  return [...told, `processes that it had left behind and that are still there: ${left(pids).length} of ${pids.length}`].join('\n');
}

scenario('without AGENT_COMMAND there is no agent worker, and /agent says so', async (context) => {
  const daemon = await context.daemon();
  const health = await daemon.get('/health');
  assert.deepEqual(Object.keys(health.json.workers).sort(), WORKERS_WITHOUT);
  assert.equal(daemon.worker('agent'), undefined);
  const answer = await daemon.get('/agent');
  assert.equal(answer.status, 404);
  assert.match(answer.json.error, /AGENT_COMMAND/);
  const restart = await daemon.ctl('restart', 'agent');
  assert.equal(restart.code, 1);
  assert.match(restart.stderr, /AGENT_COMMAND is not set/);
});

scenario('lobby, folders, prompts, and what is refused', async (context) => {
  const daemon = await daemonWithAgent(context);
  const outside = context.directory('outside');
  fs.symlinkSync(outside, path.join(daemon.projectDir, 'link'));
  fs.mkdirSync(`${daemon.projectDir}-twin`);
  context.keep(`${daemon.projectDir}-twin`);
  assert.equal((await daemon.get('/health')).json.workers.agent, 'up');

  const client = await connect(context, daemon);
  await client.next('lobbyConnected');
  const { folders } = await client.ask({ type: 'listFolders' }, 'folderList');
  assert.deepEqual(folders.map((f) => f.name), ['one', 'src', 'two']);
  assert.deepEqual(folders[0], { name: 'one', path: path.join(daemon.projectDir, 'one'), state: 'fresh', sessionId: null, lastActive: null, handoffPurpose: null });

  const outsideText = 'Folder path must be within scan root';
  for (const wrong of [outside, '/', '..', '../..', 'one/../../', daemon.projectDir, '.', `${daemon.projectDir}/`, `${daemon.projectDir}-twin`, 'link', '/etc/no-such', `${daemon.projectDir}/one/../..`, 'a\0b'])
    assert.equal(await client.error({ type: 'connectFolder', path: wrong }), outsideText, wrong);
  assert.match(await client.error({ type: 'connectFolder', path: 'no-such' }), /^Folder cannot be opened: No such file/);
  assert.match(await client.error({ type: 'connectFolder', path: 'README.md' }), /^Folder cannot be opened: Not a directory/);
  assert.equal(await client.error({ type: 'connectFolder' }), 'connectFolder requires a path');
  assert.equal(await client.error({ type: 'prompt', text: 'x' }), 'Cannot prompt in lobby — send connectFolder first');
  assert.equal(await client.error({ type: 'abort' }), 'Cannot abort in lobby — send connectFolder first');
  assert.equal(await client.error('{'), 'Invalid JSON from client');
  assert.equal(await client.error({ type: 'fly' }), 'Unknown message type: fly');
  assert.match(await client.error({ kind: 'fly' }), /type/);
  assert.deepEqual(agents(daemon), [], 'nothing runs before the first prompt');

  const connected = await client.join('one');
  assert.equal(connected.resumed, false);
  assert.equal(await client.error({ type: 'connectFolder', path: 'two' }), 'Cannot connectFolder on an active session');
  assert.equal(await client.error({ type: 'prompt' }), 'prompt requires a text');
  assert.equal(await client.error({ type: 'abort' }), 'Nothing to abort: no turn is in progress');
  const where = JSON.parse(await client.prompt('where'));
  assert.equal(where.cwd, path.join(daemon.projectDir, 'one'));
  assert.deepEqual(where.args.slice(-2), ['--session-id', connected.sessionId]);
  for (const secret of ['ANTHROPIC_API_KEY', 'PAIGE_TOKEN', 'PAIGE_RUNTIME_DIR', 'DATA_DIR']) assert.ok(!where.names.includes(secret), secret);
  assert.ok(where.names.includes('HOME'));
  assert.equal(await client.prompt('noise'), 'noise');
  assert.ok(!client.messages.some((m) => JSON.stringify(m).includes('this is not JSON')));
  const blocks = await client.ask({ type: 'prompt', content: [{ type: 'text', text: 'hello' }, { type: 'text', text: 'you' }] }, 'result');
  assert.equal(blocks.event.result, 'you said hello you');
  assert.equal((await client.ask({ type: 'listFolders' }, 'folderList')).folders[0].state, 'active');

  const crashed = client.messages.length;
  client.send({ type: 'prompt', text: 'crash' });
  assert.equal((await client.next('processExit', () => true, crashed)).code, 3);
  const resumed = JSON.parse(await client.prompt('where'));
  assert.deepEqual(resumed.args.slice(-2), ['--resume', connected.sessionId], 'the next prompt starts it again');
  client.send({ type: 'prompt', text: '/exit' });
  assert.equal((await client.next('sessionClosed')).deliberate, true);
  await until('the end of the program', () => agents(daemon).length === 0);
});

scenario('a program that cannot work is told as what it is', async (context) => {
  const daemon = await daemonWithAgent(context, { AGENT_COMMAND: '/no/such/program --fast' });
  const client = await connect(context, daemon);
  await client.join('one');
  assert.match((await client.ask({ type: 'prompt', text: 'x' }, 'error')).error, /^\/no\/such\/program could not be started: No such file or directory/);
  const other = await daemonWithAgent(context, { AGENT_COMMAND: `sh -c "echo not logged in >&2; exit 1"` });
  const unlucky = await connect(context, other);
  await unlucky.join('one');
  assert.match((await unlucky.ask({ type: 'prompt', text: 'x' }, 'error')).error, /^CC process exited early \(code 1, after \d+ ms\): not logged in$/);
});

/**
 * A program that reads a prompt, closes its input, says so, and goes on when it is told to: go(). When it is started again it
 * repeats the prompt.
 */
function closesItsInput(context, after) {
  const dir = context.directory('closes');
  const [program, go, again] = ['program', 'go', 'again'].map((name) => path.join(dir, name));
  fs.writeFileSync(program, `#!/bin/sh
read -r line
if [ -e ${again} ]; then
  printf '%s\\n' "$line"
  exec sleep 600
fi
: >${again}
exec <&-
echo '{"type":"system","subtype":"closed"}'
for i in $(seq 3000); do
  [ ! -e ${go} ] || break
  sleep 0.02
done
${after}
`, { mode: 0o755 });
  return { program, go: () => fs.writeFileSync(go, '') };
}

/** A client of a program that has closed its input, and the answer to a prompt that it cannot be given any more. */
async function promptInVain(context, program) {
  const daemon = await daemonWithAgent(context, { AGENT_COMMAND: program });
  const client = await connect(context, daemon);
  await client.join('one');
  client.send({ type: 'prompt', text: 'first' });
  await client.next('system');
  // Of the two that had the other end of the pipe the reaper may be the last that lets go.
  const reaper = agents(daemon).find((p) => p.name === 'paige-agent' || p.name === 'exe');
  await until('the reaper has let go of the input', () => fs.readlinkSync(`/proc/${reaper.pid}/fd/0`) === '/dev/null');
  const from = client.messages.length;
  client.send({ type: 'prompt', text: 'second' });
  const answer = await until('an answer', () => client.messages.slice(from).find((m) => ['promptReceived', 'error'].includes(m.type)));
  return { daemon, client, answer };
}

const saysStdin = (client) => client.messages.filter((m) => /stdin/.test(m.error));

scenario('a program that closes its input before it ends is told by its end, and nothing is said of the input', async (context) => {
  const { program, go } = closesItsInput(context, 'echo not logged in >&2\nexit 1');
  const { client, answer } = await promptInVain(context, program);
  assert.equal(answer.type, 'promptReceived', JSON.stringify(answer));
  go();
  assert.equal((await client.next('processExit')).code, 1);
  assert.deepEqual(saysStdin(client), []);
  const errors = client.messages.filter((m) => m.type === 'error').map((m) => m.error);
  assert.equal(errors.length, 1, JSON.stringify(errors));
  assert.match(errors[0], /^CC process exited early \(code 1, after \d+ ms\): not logged in$/);
});

waiting('a program that closes its input and stays is told as that after a while, and at once from then on', async (context) => {
  const { program } = closesItsInput(context, 'exit 0');
  const { client, answer } = await promptInVain(context, program);
  assert.equal(answer.type, 'promptReceived', JSON.stringify(answer));
  const closed = 'CC process stdin closed unexpectedly';
  assert.equal((await client.next('error')).error, closed);
  assert.equal(await client.error({ type: 'prompt', text: 'third' }), closed);
  assert.equal(saysStdin(client).length, 2);
  assert.equal(client.messages.filter((m) => m.type === 'promptReceived').length, 2, 'of the first and the second');
});

waiting('a prompt that a program could not be given any more when it was aborted goes to the next one', async (context) => {
  const { program } = closesItsInput(context, 'exit 0');
  const { client } = await promptInVain(context, program);
  client.send({ type: 'abort' });
  assert.equal((await client.next('processExit')).keptPrompts, 1);
  const repeated = await client.next('user');
  assert.equal(repeated.event.message.content, 'second');
  assert.deepEqual(client.messages.filter((m) => m.type === 'error'), []);
});

scenario('a client that comes back gets the history, in order, and then what happens', async (context) => {
  const daemon = await daemonWithAgent(context);
  const first = await connect(context, daemon);
  const { sessionId } = await first.join('one');
  for (let i = 0; i < 20; i++) await first.prompt(`hello ${i}`);
  const seen = first.messages.filter((m) => m.source === 'cc');

  const second = await connect(context, daemon, { session: sessionId });
  assert.deepEqual(await second.next('connected'), { source: 'bridge', type: 'connected', sessionId, resumed: true });
  await second.next('historyEnd');
  const start = second.messages.findIndex((m) => m.type === 'historyStart');
  const end = second.messages.findIndex((m) => m.type === 'historyEnd');
  assert.deepEqual(second.messages.slice(start + 1, end), seen);
  assert.deepEqual(second.messages[start], { source: 'bridge', type: 'historyStart', events: seen.length, dropped: 0 });
  await first.prompt('hello both');
  await second.next('result', (m) => m.event.result === 'you said hello both');
  await first.close();

  // The gateway is killed: the program lives on, and whoever comes back finds it.
  const program = agents(daemon).find((p) => p.name !== 'paige-agent');
  await daemon.replaced('gateway', await daemon.kill9('gateway'));
  const third = await connect(context, daemon);
  assert.equal((await third.join('one')).sessionId, sessionId);
  await third.next('historyEnd');
  assert.ok(alive(program));
  assert.equal(await third.prompt('hello again'), 'you said hello again');
  assert.deepEqual((await connect(context, daemon, { session: 'nonsense' })).messages.filter((m) => m.type === 'connected'), []);
});

scenario('floods and large events arrive whole and in order; the history and a line have a bound', async (context) => {
  const daemon = await daemonWithAgent(context);
  const client = await connect(context, daemon);
  const { sessionId } = await client.join('one');
  assert.equal(await client.prompt('flood 20000'), 'flood');
  const numbers = client.messages.filter((m) => m.event?.type === 'stream_event').map((m) => m.event.n);
  assert.deepEqual(numbers, Array.from({ length: 20000 }, (_, n) => n));

  const back = await connect(context, daemon, { session: sessionId });
  await back.next('historyEnd');
  const start = await back.next('historyStart');
  assert.equal(start.events, 10000);
  assert.equal(start.dropped, client.messages.filter((m) => m.source === 'cc').length - 10000);
  assert.equal(back.messages.filter((m) => m.source === 'cc').length, 10000);

  assert.equal(await client.prompt(`large ${4 * 1024 * 1024}`), 'large');
  assert.equal((await client.next('assistant')).event.text.length, 4 * 1024 * 1024);
  assert.equal(await client.prompt(`large ${17 * 1024 * 1024}`), 'large');
  assert.match((await client.next('error')).error, /longer than 16 MiB and is lost/);
  for (let i = 0; i < 4; i++) assert.equal(await client.prompt(`large ${4 * 1024 * 1024}`), 'large');
  assert.equal(await client.prompt('hello'), 'you said hello');
  assert.equal(client.closed, null);

  // The record of it has a bound, too, and says the same after a crash, but for the end of the program.
  const record = path.join(daemon.dataDir, 'agents', `${sessionId}.session`);
  const size = fs.statSync(record).size;
  assert.ok(size > 4 * 1024 * 1024 && size < 20 * 1024 * 1024, `${size} bytes`);
  const history = async () => {
    const reader = new AgentPerson(daemon, new Map());
    reader.session = sessionId;
    await reader.present();
    const { messages } = context.closeLater(reader.client);
    return messages.slice(messages.findIndex((m) => m.type === 'historyStart'), messages.findIndex((m) => m.type === 'historyEnd'));
  };
  const [start1, ...before] = await history();
  await daemon.replaced('agent', await daemon.kill9('agent'));
  const [start2, ...after] = await history();
  assert.deepEqual(after.at(-1), { source: 'bridge', type: 'processExit', code: null, signal: null });
  assert.deepEqual(after.slice(0, -1), before);
  assert.deepEqual(start2, { ...start1, events: start1.events + 1 });
});

/** Bytes that were said by agents, or by clients (input), by where they were read. */
async function said(daemon, which = 'output') {
  const { text } = await daemon.get('/metrics');
  return Object.fromEntries([...text.matchAll(new RegExp(`^paige_agent_${which}_bytes_total\\{.*?place="(loop|thread)"\\} (\\S+)`, 'gm'))].map(([, place, n]) => [place, Number(n)]));
}

scenario('a long line is read beside the loop: whole, in order, to all clients, and also when the program ends with it', async (context) => {
  const MB = 1024 * 1024;
  const daemon = await daemonWithAgent(context);
  const clients = [await connect(context, daemon), await connect(context, daemon)];
  for (const client of clients) await client.join('one');
  const [client] = clients;
  const order = (messages) => messages.map((m) => m.event?.type ?? m.type).filter((type) => ['promptReceived', 'user', 'assistant', 'result', 'processExit'].includes(type));

  // Longer than what may be queued for a client that does not read.
  assert.equal(await client.prompt(`large ${15 * MB}`), 'large');
  assert.equal(await client.prompt(`numbers ${2 * MB}`), 'numbers');
  client.send({ type: 'prompt', text: `leave ${9 * MB}` });
  for (const each of clients) {
    await each.next('processExit');
    const [large, numbers, last] = each.messages.filter((m) => m.event?.type === 'assistant').map((m) => m.event);
    assert.equal(large.text.length, 15 * MB);
    assert.equal(numbers.numbers.length, 2 * MB + 1);
    assert.equal(last.text.length, 9 * MB);
    const turn = ['user', 'assistant', 'result'];
    assert.deepEqual(order(each.messages).filter((type) => type !== 'promptReceived'), [...turn, ...turn, 'user', 'assistant', 'processExit']);
    assert.equal(each.closed, null);
  }

  // Whoever comes now gets the last of it, and the program that ended.
  const late = await connect(context, daemon);
  await late.join('one');
  await late.next('historyEnd');
  assert.deepEqual(order(late.messages), ['processExit']);
  assert.equal(await client.prompt('hello'), 'you said hello');

  // The measure is what the loop had in its hands, not the time that it took.
  const bytes = await said(daemon);
  assert.ok(bytes.thread > 28 * MB, JSON.stringify(bytes));
  assert.ok(bytes.loop < 64 * 1024, JSON.stringify(bytes));
});

scenario('what clients send that is long is read beside the loop, and so is what a program asks; the order stays', async (context) => {
  const MB = 1024 * 1024;
  const daemon = await daemonWithAgent(context);
  const client = await connect(context, daemon);
  await client.join('one');
  client.send({ type: 'prompt', text: `ask Write ${8 * MB}` });
  const asked = await client.next('permissionRequest');
  assert.equal(asked.input.command, 'x'.repeat(8 * MB));
  const late = await connect(context, daemon);
  await late.join('one');
  await late.next('historyEnd');
  assert.equal((await late.next('permissionRequest')).input.command.length, 8 * MB, 'who comes later is asked, too');
  // What stands behind a long message of the same client is served behind it.
  late.send({ type: 'permission', requestId: asked.requestId, allow: true, input: { command: 'y'.repeat(6 * MB) } });
  late.send({ type: 'permission', requestId: asked.requestId, allow: false });
  assert.equal((await client.next('requestResolved')).outcome, 'allowed');
  assert.match((await late.next('error')).error, /^No such request is open/);
  const told = Number((await client.next('result')).event.result);
  assert.ok(told > 6 * MB && told < 6 * MB + 1000, `the program is told ${told} bytes`);
  const answer = await client.prompt('z'.repeat(9 * MB));
  assert.equal(answer, `you said ${'z'.repeat(9 * MB)}`);
  const from = client.messages.length;
  client.send(`{"type":"prompt","content":[${'1,'.repeat(MB)}1`).send({ type: 'listFolders' });
  assert.equal((await client.next('error', undefined, from)).error, 'Invalid JSON from client');
  await client.next('folderList', undefined, from);
  for (const which of ['output', 'input']) {
    const bytes = await said(daemon, which);
    assert.ok(bytes.thread > 14 * MB, `${which} ${JSON.stringify(bytes)}`);
    assert.ok(bytes.loop < 64 * 1024, `${which} ${JSON.stringify(bytes)}`);
  }
});

scenario('who joins while the newest message is a long one gets it whole; who leaves within it is missed by nobody', async (context) => {
  const MB = 1024 * 1024;
  const daemon = await daemonWithAgent(context);
  const first = await connect(context, daemon);
  await first.join('one');
  first.send({ type: 'prompt', text: `stay ${15 * MB}` });
  await first.next('assistant');
  const { sessionId } = first.messages.find((m) => m.type === 'connected');

  // Two that stay, and between them some that leave with the first bytes of it.
  const late = [await connect(context, daemon)];
  late[0].send({ type: 'connectFolder', path: 'one' });
  const leaving = [];
  for (let i = 0; i < 4; i += 1) {
    const socket = new WebSocket(`ws://127.0.0.1:${daemon.port}/agent?session=${sessionId}`);
    leaving.push(new Promise((resolve) => {
      let bytes = 0;
      socket.once('close', () => resolve(bytes));
      socket.once('open', () => socket._socket.on('data', (data) => {
        bytes += data.length;
        if (bytes > MB) socket.terminate();
      }));
    }));
  }
  late.push(await connect(context, daemon));
  late[1].send({ type: 'connectFolder', path: 'one' });
  for (const bytes of await Promise.all(leaving)) assert.ok(bytes > MB && bytes < 15 * MB, `left after ${bytes} bytes`);

  first.send({ type: 'abort' });
  for (const client of [first, ...late]) {
    await client.next('result');
    const messages = client.messages.map((m) => m.event?.type ?? m.type);
    // It leaves no room for older ones in the history.
    if (client !== first) assert.deepEqual(messages.filter((type) => type !== 'lobbyConnected').slice(0, 5), ['connected', 'historyStart', 'assistant', 'historyEnd', 'result']);
    const assistant = client.messages.find((m) => m.event?.type === 'assistant');
    assert.equal(assistant.event.text.length, 15 * MB);
    assert.equal(client.closed, null);
  }
  assert.equal(await late[0].prompt('hello'), 'you said hello');
});

scenario('a program is no faster than a client that reads; one that does not read is not waited for', async (context) => {
  const MB = 1024 * 1024;
  const daemon = await daemonWithAgent(context);
  const [slow, quick] = [await connect(context, daemon), await connect(context, daemon)];
  for (const client of [slow, quick]) await client.join('one');
  slow.socket.on('message', () => {
    slow.socket.pause();
    setTimeout(() => slow.socket.resume(), 60);
  });
  slow.send({ type: 'prompt', text: `many 40 ${MB}` });
  for (const client of [slow, quick]) {
    await client.next('result');
    assert.deepEqual(client.messages.filter((m) => m.event?.type === 'assistant').map((m) => m.event.n), Array.from({ length: 40 }, (_, n) => n));
    assert.equal(client.closed, null, 'a client that reads stays');
  }
  slow.socket.removeAllListeners('message');
  await sleep(200);
  slow.socket.pause();
  assert.equal(await quick.prompt(`many 40 ${MB}`), 'many');
  assert.equal(quick.closed, null);
  slow.socket.resume();
  await until('the end of the one that did not read', () => slow.closed !== null);
  assert.equal(slow.closed, 1013);
});

/** What a client is answered that wants to join. */
async function joinOrRefusal(client, folder) {
  const from = client.messages.length;
  client.send({ type: 'connectFolder', path: folder });
  return until('an answer', () => client.messages.slice(from).find((m) => ['connected', 'error'].includes(m.type)));
}

scenario('a session ends and another begins while a long message is under way', async (context) => {
  const MB = 1024 * 1024;
  const daemon = await daemonWithAgent(context);
  const [client, other] = [await connect(context, daemon), await connect(context, daemon)];
  for (const each of [client, other]) await each.join('one');
  for (let i = 0; i < 3; i += 1) {
    const from = other.messages.length;
    client.send({ type: 'prompt', text: `large ${15 * MB}` });
    await client.next('system', undefined, client.messages.length);
    client.send({ type: 'prompt', text: '/exit' }).send({ type: 'prompt', text: '/exit' });
    for (const each of [client, other]) assert.equal((await each.next('sessionClosed', undefined, each === other ? from : 0)).deliberate, true);
    assert.equal(await client.error({ type: 'abort' }), 'Cannot abort in lobby — send connectFolder first');
    await until('the end of the program', () => agents(daemon).length === 0);
    for (const each of [client, other]) await until('the session is gone, and another begins', async () => (await joinOrRefusal(each, 'one')).type === 'connected');
    client.messages.length = 0;
  }
  assert.equal(await client.prompt('hello'), 'you said hello');
  assert.equal(other.closed, null);
});

scenario('a session outlives the daemon; a record that is damaged hurts no other', async (context) => {
  const daemon = await daemonWithAgent(context);
  const [one, two] = [await connect(context, daemon), await connect(context, daemon)];
  const { sessionId } = await one.join('one');
  const { sessionId: damaged } = await two.join('two');
  await one.prompt('hello');
  const told = one.messages.filter((m) => m.source === 'cc' || m.type === 'processExit');
  await daemon.stop();
  fs.writeFileSync(path.join(daemon.dataDir, 'agents', `${damaged}.session`), 'no record\n');
  await daemon.start();

  const back = await connect(context, daemon, { session: sessionId });
  await back.next('historyEnd');
  const [connected, , ...rest] = back.messages;
  assert.deepEqual([connected.sessionId, connected.resumed], [sessionId, true]);
  assert.deepEqual(rest.slice(0, told.length), told);
  assert.equal(JSON.parse((await back.ask({ type: 'prompt', text: 'where' }, 'result')).event.result).cwd, path.join(daemon.projectDir, 'one'));
  const lobby = await connect(context, daemon);
  const { folders } = await lobby.ask({ type: 'listFolders' }, 'folderList');
  assert.deepEqual(folders.filter((f) => f.name !== 'src').map((f) => [f.name, f.state]), [['one', 'active'], ['two', 'fresh']]);
  assert.match(log(daemon), /cannot be gone on with" session=\S+ error="Bad message"/);
});

scenario('a session that cannot be recorded anew begins for nobody: all who wait are told, and its history is kept', async (context) => {
  const daemon = await daemonWithAgent(context);
  const sessionId = '0190b0b0-0000-7000-8000-000000000001';
  const records = path.join(daemon.dataDir, 'agents');
  // Long enough that others come while it is read.
  const said = `m{"source":"cc","event":{"type":"user","text":"${'x'.repeat(1024 * 1024)}"}}\n`;
  fs.writeFileSync(path.join(records, `${sessionId}.ended`), `f${JSON.stringify(fs.realpathSync(daemon.projectDir))}\nk\n${said.repeat(12)}`);
  // What is to be written stands in the way of itself.
  const obstacle = path.join(records, `${sessionId}.session.new`);
  fs.mkdirSync(obstacle);

  const refused = await Promise.all([0, 1, 2].map(() => connect(context, daemon, { session: sessionId })));
  for (const client of refused) {
    assert.match((await client.next('error')).error, /^The agent session could not be recorded/);
    assert.deepEqual(client.messages.filter((m) => m.type === 'connected' || m.type === 'historyStart'), []);
    assert.equal(client.closed, null);
  }
  // They are in the lobby, and the session is gone.
  assert.equal(await refused[0].error({ type: 'abort' }), 'Cannot abort in lobby — send connectFolder first');
  assert.match(log(daemon), /agent session not recorded" session=\S+ error="/);
  await until('the session is gone', () => /agent session ended" session=/.test(log(daemon)));

  fs.rmdirSync(obstacle);
  const back = await connect(context, daemon, { session: sessionId });
  assert.equal((await back.next('connected')).resumed, true);
  await back.next('historyEnd');
  const { events, dropped } = back.messages.find((m) => m.type === 'historyStart');
  assert.equal(events + dropped, 12);
  await refused[0].join('one');
});

scenario('more records than there may be sessions: the rest waits where it is', async (context) => {
  const daemon = await daemonWithAgent(context);
  const one = await connect(context, daemon);
  const { sessionId } = await one.join('one');
  await one.prompt('hello');
  await daemon.stop();
  const records = path.join(daemon.dataDir, 'agents');
  for (let i = 0; i < 40; i += 1) fs.copyFileSync(path.join(records, `${sessionId}.session`), path.join(records, `${crypto.randomUUID()}.session`));
  await daemon.start();

  const lobby = await connect(context, daemon);
  await lobby.ask({ type: 'listFolders' }, 'folderList');
  assert.equal(log(daemon).match(/msg="agent session restored"/g).length, 32);
  assert.equal(fs.readdirSync(records).filter((name) => name.endsWith('.session')).length, 41);
  const { stdout } = await daemon.ctl('status', '--json');
  assert.equal(JSON.parse(stdout).workers.find((worker) => worker.name === 'agent').restarts.total, 0);
});

scenario('abort interrupts a turn; a program that does not heed it is ended with all it started', async (context) => {
  const daemon = await daemonWithAgent(context);
  const client = await connect(context, daemon);
  await client.join('one');
  client.send({ type: 'prompt', text: 'work 60000' });
  await client.next('stream_event');
  const aborted = await client.ask({ type: 'abort' }, 'result');
  assert.equal(aborted.event.result, 'interrupted');
  assert.equal(await client.prompt('hello'), 'you said hello', 'the same program goes on');
  assert.ok(!client.messages.some((m) => m.type === 'processExit'));

  const pids = JSON.parse(await client.prompt('children'));
  assert.equal(left(pids).length, 4);
  await client.prompt('deaf');
  client.send({ type: 'prompt', text: 'silence' });
  await sleep(300);
  const exit = await client.ask({ type: 'abort' }, 'processExit');
  assert.equal(exit.signal, 'SIGKILL');
  assert.deepEqual(left(pids), []);
  assert.match(log(daemon), /signal=INT[^]*signal=TERM[^]*signal=KILL/);
});

scenario('a request for a permission and a question are shown to all, and answered by the first', async (context) => {
  const daemon = await daemonWithAgent(context, { AGENT_ANSWER_MS: '2000' });
  const one = await connect(context, daemon);
  const { sessionId } = await one.join('one');
  const two = await connect(context, daemon, { session: sessionId });
  await two.next('connected');
  /** Has the program ask; answers as `client`; gives what the program was told. */
  const talk = async (prompt, client, type, reply) => {
    const from = [one, two].map((c) => c.messages.length);
    one.send({ type: 'prompt', text: prompt });
    const shown = await one.next(type, undefined, from[0]);
    assert.deepEqual(await two.next(type, undefined, from[1]), shown);
    if (reply) client.send({ requestId: shown.requestId, ...reply });
    const resolved = await two.next('requestResolved', undefined, from[1]);
    assert.equal(resolved.requestId, shown.requestId);
    const { event } = await one.next('result', undefined, from[0]);
    return { shown, outcome: resolved.outcome, told: event.result };
  };
  const allowed = await talk('ask Bash', two, 'permissionRequest', { type: 'permission', allow: true });
  assert.deepEqual([allowed.shown.tool, allowed.shown.input, allowed.shown.answerMs], ['Bash', { command: 'ls' }, 2000]);
  assert.deepEqual([allowed.outcome, JSON.parse(allowed.told)], ['allowed', { behavior: 'allow', updatedInput: { command: 'ls' } }]);
  const changed = await talk('ask Bash', one, 'permissionRequest', { type: 'permission', allow: true, input: { command: 'pwd' } });
  assert.deepEqual(JSON.parse(changed.told), { behavior: 'allow', updatedInput: { command: 'pwd' } });
  const denied = await talk('ask Bash', one, 'permissionRequest', { type: 'permission', allow: false, message: 'Use rg "instead"' });
  assert.deepEqual([denied.outcome, JSON.parse(denied.told)], ['denied', { behavior: 'deny', message: 'Use rg "instead"' }]);
  const answered = await talk('question', two, 'questionRequest', { type: 'answer', answers: { 'Which?': 'B' } });
  assert.equal(answered.outcome, 'answered');
  assert.deepEqual(JSON.parse(answered.told), { behavior: 'allow', updatedInput: { ...answered.shown.input, answers: { 'Which?': 'B' } } });
  const began = Date.now();
  const expired = await talk('ask Write', one, 'permissionRequest');
  assert.equal(expired.outcome, 'expired');
  assert.equal(JSON.parse(expired.told).behavior, 'deny');
  assert.ok(Date.now() - began >= 2000);
  assert.equal((await talk('withdraw Bash', one, 'permissionRequest')).outcome, 'cancelled');

  assert.match(await two.error({ type: 'permission', requestId: allowed.shown.requestId, allow: true }), /^No such request is open/);
  assert.match(await two.error({ type: 'permission', allow: true }), /^requestId is missing/);
  one.send({ type: 'prompt', text: 'question' });
  const { requestId } = await one.next('questionRequest', undefined, one.messages.length);
  assert.match(await two.error({ type: 'permission', requestId, allow: true }), /^A question is answered/);
  assert.match(await two.error({ type: 'answer', requestId }), /^answer requires answers/);
  assert.match(await two.error({ type: 'answer', requestId, answers: {} }), /^answers is empty/);
  assert.match(await two.error({ type: 'answer', requestId, answers: { 'Which?': 'A', 'Who?': 'me' } }), /^answers has "Who\?", which was not asked.*such as "Which\?"/);
  for (const bad of ['', 7, null, {}]) assert.match(await two.error({ type: 'answer', requestId, answers: { 'Which?': bad } }), /^answers\["Which\?"\] must be a text/);
  two.send({ type: 'permission', requestId, allow: false });
  await one.next('requestResolved', (m) => m.requestId === requestId && m.outcome === 'denied');

  // Who comes later sees what is open; with the program its requests go.
  one.send({ type: 'prompt', text: 'ask Late' });
  const open = await one.next('permissionRequest', (m) => m.tool === 'Late');
  const three = await connect(context, daemon, { session: sessionId });
  await three.next('permissionRequest', (m) => m.requestId === open.requestId);
  one.send({ type: 'prompt', text: '/exit' });
  await until('the end of the program', () => agents(daemon).length === 0);
  assert.ok(!one.messages.some((m) => m.source === 'cc' && m.event.type.startsWith('control_')), 'control messages are not handed on');
});

scenario('a program that ignores every signal but KILL is gone within 5 s of /exit, and of the end of the daemon', async (context) => {
  const daemon = await daemonWithAgent(context);
  const ending = async (folder, end) => {
    const client = await connect(context, daemon);
    await client.join(folder);
    const pids = JSON.parse(await client.prompt('children'));
    await client.prompt('deaf');
    const all = [...pids, ...agents(daemon).filter((p) => p.name !== 'paige-agent').map((p) => p.pid)];
    const began = Date.now();
    await end(client);
    await until('nothing is left', () => left(all).length === 0, { every: 20 });
    assert.ok(Date.now() - began < 5000, `${Date.now() - began} ms`);
  };
  await ending('one', (client) => client.send({ type: 'prompt', text: '/exit' }));
  await ending('two', () => daemon.stop());
});

scenario('AGENT_ENV_FILE is the environment of agents alone', async (context) => {
  const file = path.join(context.directory('env'), 'agent.env');
  fs.writeFileSync(file, '# of agents\nAGENT_SPECIAL="a value"\n', { mode: 0o600 });
  const daemon = await daemonWithAgent(context, { AGENT_ENV_FILE: file });
  const client = await connect(context, daemon);
  await client.join('one');
  assert.ok(JSON.parse(await client.prompt('where')).names.includes('AGENT_SPECIAL'));
  for (const worker of ['agent', 'gateway', 'llm'])
    assert.ok(!fs.readFileSync(`/proc/${daemon.worker(worker).pid}/environ`, 'utf8').includes('AGENT_SPECIAL'), worker);
});

/** An agent in folder one, and what came of its call of one of Paige's tools. */
async function callTools(context, daemon, options) {
  const client = await connect(context, daemon, options);
  await client.join('one');
  const told = JSON.parse(await client.prompt('tools'));
  return { client, told, lines: agents(daemon).map(({ pid }) => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')) };
}

scenario("an agent has Paige's tools, also where a token is asked for; the token is seen nowhere", async (context) => {
  const daemon = await daemonWithAgent(context, { HOST: '127.0.0.1' });
  const headers = { authorization: `Bearer ${daemon.token()}` };
  assert.equal((await daemon.get('/sessions')).status, 403, 'without it nobody is let in');
  const socket = new WebSocket(`ws://127.0.0.1:${daemon.port}/ws`, { headers });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.send(JSON.stringify({ type: 'session:start', payload: { issueNumber: 77 } }));
  await until('a session', async () => (await daemon.sql('SELECT 1 FROM sessions')).length === 1);
  socket.close();
  const { client, told, lines } = await callTools(context, daemon, { token: true });
  assert.equal(told.status, 200, told.text);
  assert.match(told.text, /\\?"issueNumber\\?":77/);
  assert.equal(told.mode, '600');
  assert.ok(!told.file.startsWith(daemon.dataDir), told.file);
  assert.ok(lines.length > 0 && !lines.some((line) => line.includes(daemon.token())), 'not in the arguments');
  assert.ok(!daemon.everythingWritten().includes(daemon.token()) && !log(daemon).includes(daemon.token()), 'not in a log');

  const old = daemon.token();
  assert.equal((await daemon.ctl('token', '--rotate')).code, 0);
  await until('the client is cut', () => client.closed !== null);
  const again = await connect(context, daemon, { token: true });
  await again.join('one');
  again.send({ type: 'prompt', text: 'crash' });
  await again.next('processExit');
  const next = JSON.parse(await again.prompt('tools'));
  assert.equal(next.status, 200, 'the next program has the new token');
  assert.equal(next.token, `Bearer ${daemon.token()}`);
  assert.notEqual(daemon.token(), old);
});

scenario("agents have not Paige's tools when a setting says so, nor when the command names servers itself", async (context) => {
  const none = await daemonWithAgent(context, { AGENT_MCP: 'none' });
  assert.deepEqual((await callTools(context, none)).told, { file: null });
  const file = path.join(context.directory('mcp'), 'own.json');
  const own = await daemonWithAgent(context, { AGENT_COMMAND: `${process.execPath} ${FAKE} --mcp-config ${file}` });
  fs.writeFileSync(file, JSON.stringify({ mcpServers: { paige: { type: 'http', url: `${own.url}/mcp`, headers: {} } } }));
  const { told, lines } = await callTools(context, own);
  assert.deepEqual([told.file, told.status], [file, 200]);
  assert.ok(lines.every((line) => line.split('\0').filter((word) => word.startsWith('--mcp-config')).length <= 1));
});

scenario('kill -9 of the worker, of a reaper, and of the supervisor leave no process', async (context) => {
  const daemon = await daemonWithAgent(context);
  const client = await connect(context, daemon);
  const { sessionId } = await client.join('one');
  const pids = JSON.parse(await client.prompt('children'));
  const family = agents(daemon).map((p) => p.pid);
  assert.ok(family.length >= 5);
  const old = await daemon.kill9('agent');
  await until('the end of everything below the killed worker', () => left([...family, ...pids]).length === 0, { ms: 5000 });
  await daemon.replaced('agent', old);
  await until('the client is told to connect again', () => client.closed !== null);
  assert.equal(client.closed, 1012);

  const next = await connect(context, daemon, { session: sessionId });
  await next.next('historyEnd');
  assert.deepEqual(JSON.parse(await next.prompt('where')).args.slice(-2), ['--resume', sessionId]);
  const more = JSON.parse(await next.prompt('children'));
  const reaper = agents(daemon).find((p) => p.name === 'paige-agent' || p.name === 'exe');
  process.kill(reaper.pid, 'SIGKILL');
  await next.next('processExit');
  await until('the end of everything below the killed reaper', () => left(more).length === 0, { ms: 5000 });

  const last = JSON.parse(await next.prompt('children'));
  await daemon.die();
  await until('the end of everything below the killed supervisor', () => left(last).length === 0, { ms: 5000 });
});

scenario('a window is told of each session its clients and when it is looked at next', async (context) => {
  const daemon = await daemonWithAgent(context, { IDLE_TIMEOUT_MS: '60000', MAX_IDLE_MS: '600000' });
  const window = await context.editor(daemon);
  const sessions = async () => {
    window.send('agents:request', {});
    return (await window.next('agents:state')).payload.sessions;
  };
  assert.deepEqual(await sessions(), []);
  const client = await connect(context, daemon);
  const { sessionId } = await client.join('one');
  await client.prompt('hello');
  const folder = path.join(fs.realpathSync(daemon.projectDir), 'one');
  const there = { sessionId, folder, running: true, ending: false, clients: 1, prompts: 0, checkMs: null, checkEnds: false, checkReason: null, latestMs: null };
  await until('the turn has ended', async () => (await sessions())[0].prompts === 0);
  assert.deepEqual(await sessions(), [there]);
  client.send({ type: 'prompt', text: 'work 4000' });
  await client.next('stream_event');
  await client.close();
  await until('nobody is there', async () => (await sessions())[0].clients === 0);
  const [working] = await sessions();
  assert.equal(working.prompts, 1);
  assert.deepEqual([working.checkEnds, working.checkReason], [false, 'kept alive by active-turn: CC is mid-turn']);
  await until('the turn has ended', async () => (await sessions())[0].prompts === 0, { ms: 15000 });
  const [idle] = await sessions();
  assert.deepEqual([idle.checkEnds, idle.checkReason], [true, 'idle timeout']);
  assert.ok(idle.checkMs < working.checkMs && idle.checkMs > 20000, `${idle.checkMs} ms of ${working.checkMs}`);
  assert.ok(idle.latestMs < working.latestMs && idle.latestMs > 560000, `${idle.latestMs} ms`);

  const none = await context.editor(await context.daemon());
  none.send('agents:request', {});
  const { payload } = await none.next('connection:error');
  assert.equal(payload.code, 'NOT_FOUND');
  assert.match(payload.message, /AGENT_COMMAND is not set/);
});

scenario('a window that follows the agent sessions is told what changes, and no more', async (context) => {
  const daemon = await daemonWithAgent(context);
  const [window, other] = [await context.editor(daemon), await context.editor(daemon)];
  const told = async (where) => (await window.next('agents:state', { where: ({ sessions }) => where(sessions[0]) })).payload.sessions[0];
  /** What was sent before is done. */
  const answered = () => window.ask('connection:ping', {}, 'connection:pong');
  window.send('agents:follow', { follow: true });
  await answered();
  const client = await connect(context, daemon);
  const { sessionId } = await client.join('one');
  assert.equal((await told((one) => one?.clients === 1)).sessionId, sessionId);
  const before = window.of('agents:state').length;
  await client.prompt('flood 2000');
  await told((one) => one?.running && one.prompts === 0);
  const during = window.of('agents:state').length - before;
  assert.ok(during <= 4, `${during} messages, since what an agent says changes nothing`);
  await client.close();
  assert.ok((await told((one) => one?.clients === 0)).checkMs > 0);

  const old = await daemon.kill9('agent');
  await daemon.replaced('agent', old);
  await told((one) => one?.running === false);
  window.send('agents:follow', { follow: false });
  await answered();
  const last = window.of('agents:state').length;
  await (await connect(context, daemon)).join('two');
  await until('it is there', async () => (await other.ask('agents:request', {}, 'agents:state')).payload.sessions.length === 2);
  await sleep(1000); // longer than changes are collected
  assert.equal(window.of('agents:state').length, last);
  assert.equal(other.of('agents:state').every(({ id }) => id !== undefined), true, 'only answers');
});

waiting('without clients: kept alive in the middle of a turn, granted a grace, then ended', async (context) => {
  const daemon = await daemonWithAgent(context, { IDLE_TIMEOUT_MS: '1500' });
  const idle = await connect(context, daemon);
  await idle.join('two');
  await idle.prompt('hello');
  const quick = agents(daemon);
  const busy = await connect(context, daemon);
  const { sessionId } = await busy.join('one');
  const pids = JSON.parse(await busy.prompt('children'));
  busy.send({ type: 'prompt', text: 'work 6000' });
  await busy.next('stream_event');
  const working = agents(daemon).filter((p) => !quick.some((q) => q.pid === p.pid));
  const gone = Date.now();
  await idle.close();
  await busy.close();

  await until('the end of the idle program', () => !quick.some(alive), { ms: 8000 });
  assert.ok(Date.now() - gone >= 1500);
  assert.ok(working.every(alive), 'the working one is kept');
  await until('it was looked at', () => /is kept" session=\S+ why="kept alive by active-turn: CC is mid-turn"/.test(log(daemon)));
  await until('its grace', () => /why="grace period — CC finished working, restarting idle countdown"/.test(log(daemon)), { ms: RECHECK_MS + 10000 });
  await until('the end of the working program', () => !working.some(alive), { ms: 10000 });
  assert.ok(Date.now() - gone >= 1500 + RECHECK_MS + 1500 - 100);
  assert.deepEqual(left(pids), []);
  // By the log's own clock: a look from here may come late on a busy machine.
  const when = (what) => [...log(daemon).matchAll(new RegExp(`ts=(\\S+) .*why="${what}`, 'g'))].map((line) => Date.parse(line[1]));
  const ends = when('idle timeout');
  assert.equal(ends.length, 2);
  assert.ok(ends[1] - when('grace period')[0] >= 1400, 'the grace is granted');

  if (process.env.PAIGE_TRANSCRIPT) console.log(transcript(log(daemon), pids));

  await until('the end of the session', () => endsOf(daemon, sessionId) === 1);
  // Who comes now goes on with the conversation that the program has kept, and sees what happened before.
  const back = await connect(context, daemon);
  assert.deepEqual(await back.join('one'), { source: 'bridge', type: 'connected', sessionId, resumed: true });
  await back.next('historyEnd');
  const before = (messages) => messages.filter((m) => m.source === 'cc' && m.event.type === 'user').map((m) => m.event.message.content);
  assert.deepEqual(before(back.messages), ['children', 'work 6000']);
  assert.deepEqual(JSON.parse(await back.prompt('where')).args.slice(-2), ['--resume', sessionId]);
});

waiting('a session that is asked for by its id goes on in its folder, with another home and where the home cannot be looked into', async (context) => {
  const home = context.directory('home');
  const file = path.join(context.directory('env'), 'agent.env');
  const settings = (text) => fs.writeFileSync(file, text, { mode: 0o600 });
  settings(`HOME=${home}\n`);
  const daemon = await daemonWithAgent(context, { AGENT_ENV_FILE: file, IDLE_TIMEOUT_MS: '1500' });
  const first = await connect(context, daemon);
  const { sessionId } = await first.join('one');
  await first.prompt('hello');
  let client = first;
  /** All clients leave, the program is ended, and somebody asks for the session by its id. */
  const comeBack = async () => {
    const before = endsOf(daemon, sessionId);
    await client.close();
    await until('the end of the session', () => endsOf(daemon, sessionId) > before);
    assert.deepEqual(agents(daemon), [], 'and of the program');
    assert.ok(fs.existsSync(path.join(daemon.dataDir, 'agents', `${sessionId}.ended`)));
    client = await connect(context, daemon, { session: sessionId });
    await client.next('historyEnd');
    const said = client.messages.filter((m) => m.source === 'cc' && m.event.type === 'user').map((m) => m.event.message.content);
    assert.equal(said[0], 'hello', 'what happened before is there');
  };
  const where = async () => JSON.parse(await client.prompt('where'));

  await comeBack();
  assert.equal((await where()).cwd, path.join(daemon.projectDir, 'one'));

  // Now Paige knows no home; the program still finds its own.
  settings(`HOME=${context.directory('nothing')}\nCLAUDE_CONFIG_DIR=\n`);
  await daemon.ctl('restart', 'agent');
  await until('the worker', () => daemon.worker('agent'));
  await comeBack();
  const ended = client.ask({ type: 'prompt', text: 'where' }, 'processExit');
  assert.equal((await ended).exitCode ?? (await ended).code, 1, 'this program has no such conversation');
  assert.match(log(daemon), new RegExp(`msg="agent session begins" session=${sessionId} folder=${daemon.projectDir}/one\\n`));
  const folders = [...log(daemon).matchAll(new RegExp(`msg="agent session begins" session=${sessionId} folder=(\\S+)`, 'g'))].map((m) => m[1]);
  assert.deepEqual([...new Set(folders)], [path.join(daemon.projectDir, 'one')]);
});

waiting('a long prompt that was taken up is known as such when its repetition has been read beside the loop: no other program gets it', async (context) => {
  const daemon = await daemonWithAgent(context);
  const client = await connect(context, daemon);
  await client.join('one');
  await client.prompt('old');
  const from = client.messages.length;
  const long = 'z'.repeat(1024 * 1024);
  client.send({ type: 'prompt', text: 'gather 1' });
  await client.next('stream_event', undefined, from);
  client.send({ type: 'prompt', text: long });
  await client.next('user', (m) => m.event.message.content === long, from);
  client.send({ type: 'abort' }).send({ type: 'prompt', text: 'hello next' });
  const exit = await client.next('processExit', undefined, from);
  assert.equal(exit.keptPrompts, 1, 'the one behind it');
  await client.next('result', (m) => m.event.result === 'you said hello next', from);
  const taken = client.messages.slice(from).filter((m) => m.event?.type === 'user').map((m) => m.event.message.content.slice(0, 10));
  assert.deepEqual(taken, ['gather 1', 'z'.repeat(10), 'hello next']);
  const bytes = await said(daemon);
  assert.ok(bytes.thread > long.length, JSON.stringify(bytes));
  assert.ok(bytes.loop < 64 * 1024, JSON.stringify(bytes));
});

waiting('prompts behind a turn that is aborted are answered, by this program or by the next', async (context) => {
  const daemon = await daemonWithAgent(context);
  const client = await connect(context, daemon);
  await client.join('one');
  const results = (from) => client.messages.slice(from).filter((m) => m.event?.type === 'result').map((m) => m.event.result);

  let from = client.messages.length;
  client.send({ type: 'prompt', text: 'work 60000' });
  await client.next('stream_event', undefined, from);
  client.send({ type: 'prompt', text: 'one behind' }).send({ type: 'abort' }).send({ type: 'prompt', text: 'one after' });
  await until('all three turns have ended', () => results(from).length === 3);
  assert.deepEqual(results(from), ['interrupted', 'you said one behind', 'you said one after']);
  await sleep(4500); // longer than a signal would take
  assert.ok(!client.messages.some((m) => m.type === 'processExit'), 'the program goes on');

  await client.prompt('old');
  from = client.messages.length;
  client.send({ type: 'prompt', text: 'work 60000' });
  await client.next('stream_event', undefined, from);
  client.send({ type: 'abort' }).send({ type: 'prompt', text: 'hello next' });
  const exit = await client.next('processExit', undefined, from);
  assert.equal(exit.keptPrompts, 1);
  await client.next('result', (m) => m.event.result === 'you said hello next', from);
  assert.ok(results(from).includes('interrupted'));
  assert.equal(await client.prompt('hello again'), 'you said hello again');
});
