// turns.mjs - the longest turn of each worker's loop, and what another window waits for a pong, while one client asks for
// the worst there is. Each line is a daemon of its own. Wall time counts what the machine did besides, so the processor
// time of the longest turn stands beside it. TMPDIR decides on which disk. `PAIGED=... node tests/bench/turns.mjs [NAME...]`
import { AgentClient } from '../integration/lib/agent-client.mjs';
import { Daemon, WORKERS } from '../integration/lib/daemon.mjs';
import { Editor } from '../integration/lib/editor.mjs';
import { Mcp } from '../integration/lib/mcp.mjs';
import { Pinger } from '../integration/lib/pinger.mjs';
import { scratch, smallProject } from '../integration/lib/project.mjs';
import { until } from '../integration/lib/wait.mjs';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

const MB = 1024 * 1024;
const ROUNDS = 3;

/** Lines of `bytes` bytes altogether. */
const lines = (bytes) => 'export const value = someText + 1;\n'.repeat(Math.ceil(bytes / 35)).slice(0, bytes);

/** A tree of `count` files in directories of 100. */
function manyFiles(count) {
  const dir = scratch('project');
  for (let i = 0; i < count; i += 1) {
    if (i % 100 === 0) fs.mkdirSync(path.join(dir, `package-${i / 100}`));
    fs.writeFileSync(path.join(dir, `package-${Math.floor(i / 100)}`, `module-${i}.ts`), '');
  }
  return dir;
}

const big = lines(5 * MB);
const oneByte = `${big.slice(0, -2)}#\n`;

/** Posts JSON and reads the answer, whatever it is. */
const post = (daemon, at, body, headers = {}) =>
  fetch(daemon.url + at, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers }, body }).then((answer) => answer.text());
/** A call of a tool as Claude Code sends it, with these arguments as JSON. */
const toolCall = (args) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"paige_show_message","arguments":${args}}}`;
const long = 'x'.repeat(9.6 * MB);
const numbers = `[${'1,'.repeat(4.8 * MB)}1]`;
/** A text of 7.9 MB in lines, as long as a file may be. */
const longest = lines(7.9 * MB);
/** A text of 8 MB that is as much again as JSON. */
const quotes = '"'.repeat(4.4 * MB);

/** A daemon with the scripted agent. */
const FAKE = fileURLToPath(new URL('../integration/agent/fake-agent.mjs', import.meta.url));
const AGENT = { AGENT_COMMAND: `${process.execPath} ${FAKE}` };

const RESUMED = '0190b0b0-0000-7000-8000-000000000001';

/** A client of /agent in the session of the project's folder src. */
async function agentClient(daemon) {
  const client = await AgentClient.connect(daemon);
  await client.join('src');
  return client;
}

/** Asks the agent this, with two clients in its session. */
const agentSays = (text) => async ({ daemon }) => {
  const client = await agentClient(daemon);
  const other = await agentClient(daemon);
  await client.prompt(text);
  await other.next('result');
  client.close();
  other.close();
};

/** name: project (a directory to be made), before (of the figures), run (what is asked). */
const CASES = {
  'nothing but pings': { run: () => sleep(1000) },
  'buffer:update of 5 MB': {
    run: async ({ editor, mcp }) => {
      editor.send('buffer:update', { path: 'src/big.ts', content: big });
      await until('the buffer', async () => (await mcp.ok('paige_get_buffer', { path: 'src/big.ts' }))?.dirty);
    },
  },
  'buffer:update of 9.6 MB': {
    run: async ({ editor, mcp }) => {
      editor.send('buffer:update', { path: 'src/big.ts', content: lines(9.6 * MB) });
      await until('the buffer', async () => (await mcp.ok('paige_get_buffer', { path: 'src/big.ts' }))?.dirty);
    },
  },
  'file:save of 9.6 MB': {
    run: ({ editor }) => editor.ask('file:save', { path: 'src/big.ts', content: lines(9.6 * MB) }, ['fs:save_ack', 'fs:save_error', 'connection:error']),
  },
  'file:save of quotes, 9 MB as JSON': {
    run: ({ editor }) => editor.ask('file:save', { content: quotes, path: 'src/big.ts' }, ['fs:save_ack', 'fs:save_error', 'connection:error']),
  },
  'file:open of 5 MB': {
    project: () => smallProject({ 'src/big.ts': big }),
    run: ({ editor }) => editor.ask('file:open', { path: 'src/big.ts' }, 'fs:content'),
  },
  'file:open of 7.6 MB': {
    project: () => smallProject({ 'src/long.ts': lines(7.6 * MB) }),
    run: ({ editor }) => editor.ask('file:open', { path: 'src/long.ts' }, 'fs:content'),
  },
  'diff of 5 MB': {
    project: () => smallProject({ 'src/big.ts': big }),
    before: async ({ editor, mcp }) => {
      editor.send('buffer:update', { path: 'src/big.ts', content: oneByte });
      await until('the buffer', async () => (await mcp.ok('paige_get_buffer', { path: 'src/big.ts' }))?.dirty);
    },
    fresh: 'fswatch',
    run: ({ mcp }) => mcp.ok('paige_get_diff', { path: 'src/big.ts' }),
  },
  'tree of 100,000 files': {
    project: () => manyFiles(100_000),
    before: async ({ editor }) => editor.next('fs:tree', { ms: 60_000 }),
    run: async ({ daemon }) => {
      const other = await Editor.connect(daemon);
      await other.next('fs:tree', { ms: 60_000 });
      other.close();
    },
  },
  'checkout of 5,000 files': {
    project: () => manyFiles(5000),
    before: async ({ editor }) => editor.next('fs:tree'),
    run: async ({ dir }) => {
      execFileSync('sh', ['-c', 'for d in *; do mv "$d" "new-$d"; cp -r "new-$d" "copy-$d"; done'], { cwd: dir });
      await sleep(1500);
    },
  },
  'state of 40 buffers of 250 kB': {
    before: async ({ editor, mcp }) => {
      for (let i = 0; i < 40; i += 1) editor.send('buffer:update', { path: `src/f${i}.ts`, content: lines(250_000) });
      await until('the buffers', async () => (await mcp.ok('paige_get_buffer', { path: 'src/f39.ts' }))?.dirty);
    },
    fresh: 'fswatch',
    run: async ({ mcp }) => {
      await mcp.ok('paige_get_session_state', { include: ['buffers'] }).catch(() => {});
      await mcp.ok('paige_get_diff', {});
    },
  },
  'summaries of 40 edits of 5 MB': {
    env: { BUFFER_SUMMARY_MS: '3000' },
    run: async ({ editor, mcp }) => {
      for (let i = 0; i < 40; i += 1) editor.send('buffer:update', { path: `src/f${i}.ts`, content: big });
      await until('the buffers', async () => (await mcp.ok('paige_get_buffer', { path: 'src/f39.ts' }))?.dirty, { ms: 30_000 });
      await sleep(3500);
    },
  },
  'state of 7.9 MB for a window that returns': {
    before: async ({ editor, mcp }) => {
      editor.send('buffer:update', { path: 'src/long.ts', content: longest });
      await until('the buffer', async () => (await mcp.ok('paige_get_buffer', { path: 'src/long.ts' }))?.dirty);
    },
    fresh: 'fswatch',
    run: async ({ editor }) => {
      const { payload } = await editor.next('session:resumed');
      if (payload.incomplete) await until('what was missing', async () => (await editor.ask('buffers:request', { include: ['buffers'] }, ['buffers:state', 'connection:error'])).payload.buffers?.length === 1);
    },
  },
  'first edit of 7.9 MB, not open': {
    project: () => smallProject({ 'src/long.ts': longest }),
    run: async ({ editor, mcp }) => {
      editor.send('buffer:update', { path: 'src/long.ts', content: 'short\n' });
      await until('the buffer', async () => (await mcp.ok('paige_get_buffer', { path: 'src/long.ts' }))?.dirty);
    },
  },
  'places in 20 files of 7.9 MB': {
    project: () => smallProject(Object.fromEntries([...Array(20).keys()].map((i) => [`src/long${i}.ts`, longest]))),
    run: async ({ mcp }) => {
      for (let i = 0; i < 20; i += 1) await mcp.ok('paige_highlight_lines', { path: `src/long${i}.ts`, start: 1, end: 200_000, style: 'hint' });
    },
  },
  '1,000 files hinted': {
    project: () => manyFiles(1000),
    run: ({ mcp }) => mcp.ok('paige_hint_files', { paths: [...Array(1000).keys()].map((i) => `package-${Math.floor(i / 100)}/module-${i}.ts`), style: 'subtle' }),
  },
  'buffer of a changed file of 7.9 MB': {
    project: () => smallProject({ 'src/long.ts': longest }),
    before: ({ editor }) => editor.ask('file:save', { path: 'src/long.ts', content: longest }, 'fs:save_ack'),
    fresh: 'fswatch',
    run: async ({ dir, mcp }) => {
      for (let i = 0; i < 5; i += 1) {
        fs.writeFileSync(path.join(dir, 'src/long.ts'), `${i}\n${longest.slice(2)}`);
        await mcp.ok('paige_get_buffer', { path: 'src/long.ts', startLine: 1, endLine: 2 });
      }
    },
  },
  'MCP call with text of 9.6 MB': {
    run: ({ daemon, mcp }) => post(daemon, '/mcp', toolCall(`{"message":"${long}"}`), { 'Mcp-Session-Id': mcp.transport.sessionId }),
  },
  'MCP call, 4.8 million numbers': {
    run: ({ daemon, mcp }) => post(daemon, '/mcp', toolCall(`{"message":${numbers}}`), { 'Mcp-Session-Id': mcp.transport.sessionId }),
  },
  'guard event with text of 9.6 MB': {
    run: ({ daemon }) => post(daemon, '/guards/session-guard/a/events', `{"clientEventId":"${long}"}`),
  },
  'guard event, 4.8 million numbers': {
    run: ({ daemon }) => post(daemon, '/guards/session-guard/a/events', `{"clientEventId":${numbers}}`),
  },
  'agent: a line of 15 MB': { env: AGENT, run: agentSays(`large ${15 * MB}`) },
  'agent: a line of 8 million numbers': { env: AGENT, run: agentSays(`numbers ${7.9 * MB}`) },
  'agent: permission for 8 MB': {
    env: AGENT,
    run: async ({ daemon }) => {
      const client = await agentClient(daemon);
      client.send({ type: 'prompt', text: `ask Write ${8 * MB}` });
      const { requestId } = await client.next('permissionRequest');
      client.send({ type: 'permission', requestId, allow: true });
      await client.next('result');
      client.close();
    },
  },
  'agent: a prompt of 9 MB': { env: AGENT, run: agentSays('x'.repeat(9 * MB)) },
  'agent: a prompt of 4.5 million numbers': {
    env: AGENT,
    run: async ({ daemon }) => {
      const client = await agentClient(daemon);
      client.send(`{"type":"prompt","content":[${'1,'.repeat(4.5 * MB)}1]}`);
      await client.next('promptReceived');
      client.close();
    },
  },
  'agent: a session of 60 MB is resumed': {
    env: AGENT,
    before: ({ daemon, dir }) => {
      const message = `m{"source":"cc","event":{"type":"user","text":"${'x'.repeat(MB)}"}}\n`;
      fs.writeFileSync(path.join(daemon.dataDir, 'agents', `${RESUMED}.ended`), `f${JSON.stringify(fs.realpathSync(dir))}\nk\n${message.repeat(58)}`);
    },
    run: async ({ daemon }) => {
      const client = await AgentClient.connect(daemon, { session: RESUMED });
      await client.next('historyEnd');
      client.close();
    },
  },
  'agent: 1,000 folders': {
    env: AGENT,
    project: () => {
      const dir = scratch('project');
      for (let i = 0; i < 1000; i += 1) fs.mkdirSync(path.join(dir, `folder-${i}`));
      return dir;
    },
    run: async ({ daemon }) => {
      const client = await AgentClient.connect(daemon);
      await client.ask({ type: 'listFolders' }, 'folderList');
      client.close();
    },
  },
  'agent: 40 MB in lines of 1 MB': { env: AGENT, run: agentSays(`many 40 ${MB}`) },
  'agent: 6 MB in lines of 1 MB': { env: AGENT, run: agentSays(`many 6 ${MB}`) },
  'agent: a client gets a history of 6 MB': {
    env: AGENT,
    before: async ({ daemon }) => {
      const client = await agentClient(daemon);
      await client.prompt('many 1000 6000');
      client.close();
    },
    run: async ({ daemon }) => {
      for (let i = 0; i < 3; i += 1) {
        const client = await agentClient(daemon);
        await client.next('historyEnd');
        client.close();
      }
    },
  },
  'backup of 60 MB': {
    data: (dir) => execFileSync('sqlite3', [path.join(dir, 'paige.db'), 'CREATE TABLE ballast (x); WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < 60000) INSERT INTO ballast SELECT randomblob(1000) FROM c;']),
    run: ({ daemon }) => fetch(`${daemon.url}/backup`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }).then((answer) => answer.text()),
  },
};

async function figures(daemon) {
  const { text } = await daemon.get('/metrics', { ms: 20_000 });
  const of = (name) => Object.fromEntries([...text.matchAll(new RegExp(`^${name}\\{worker="([a-z-]+)"\\} (\\S+)`, 'gm'))].map(([, worker, s]) => [worker, s * 1000]));
  return { wall: of('paige_loop_turn_longest_seconds'), cpu: of('paige_loop_turn_longest_cpu_seconds') };
}

async function measure(dir, { env, data, before, run, fresh }) {
  const dataDir = scratch('data');
  const daemon = new Daemon({ projectDir: dir, dataDir, env });
  let times = [];
  try {
    await daemon.start();
    if (data) {
      data(dataDir);
      const victim = await daemon.kill9('store');
      await daemon.replaced('store', victim);
    }
    const editor = await Editor.connect(daemon);
    const mcp = await Mcp.connect(daemon);
    editor.send('session:start', {});
    await before?.({ daemon, editor, mcp, dir });
    // What came before does not count: workers that remember everything are started anew.
    for (const worker of [fresh, 'gateway'].filter(Boolean)) {
      const victim = await daemon.kill9(worker);
      await daemon.replaced(worker, victim);
    }
    await until('the window is back', () => editor.connected);
    await mcp.ok('paige_get_open_files');
    const pings = await Pinger.start(daemon);
    const begin = performance.now();
    await run({ daemon, editor, mcp, dir });
    const took = performance.now() - begin;
    await sleep(300);
    times = await pings.stop();
    const { wall, cpu } = await figures(daemon);
    editor.close();
    await mcp.close?.();
    await daemon.stop();
    return { wall, cpu, took, p99: times[Math.floor((times.length - 1) * 0.99)], most: times.at(-1) };
  } finally {
    daemon.endNow();
    daemon.removeScratch();
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
const shown = [...WORKERS.filter((name) => ['gateway', 'fswatch', 'store'].includes(name)), 'agent'];
console.log(`milliseconds, least of ${ROUNDS} rounds: longest turn (processor time of the longest)`);
console.log(['input'.padEnd(40), ...shown.map((name) => name.padStart(16)), 'ping p99'.padStart(10), 'most'.padStart(8), 'took'.padStart(9)].join(''));
for (const [name, what] of Object.entries(CASES)) {
  if (wanted.length && !wanted.some((word) => name.includes(word))) continue;
  const dir = what.project ? what.project() : smallProject();
  const rounds = [];
  try {
    for (let i = 0; i < ROUNDS; i += 1) rounds.push(await measure(dir, what));
  } finally {
    fs.rmSync(dir, { recursive: true, force: true });
  }
  const least = (of) => Math.min(...rounds.map(of).map((n) => n ?? Infinity)).toFixed(1).replace('Infinity', '-');
  console.log([
    name.padEnd(40),
    ...shown.map((worker) => `${least((r) => r.wall[worker])} (${least((r) => r.cpu[worker])})`.padStart(16)),
    least((r) => r.p99).padStart(10),
    least((r) => r.most).padStart(8),
    least((r) => r.took).padStart(9),
  ].join(''));
}
