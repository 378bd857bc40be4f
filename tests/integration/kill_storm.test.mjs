// kill_storm.test.mjs - every worker is killed many times while editors and Claude are busy. Afterwards each action that was
// acknowledged is in the log exactly once, none is there twice, and every unsaved buffer holds at least what was seen of it.
//
// Restarts come with pauses that double, so the kills are spread over several lives of the daemon on one DATA_DIR, which
// also shows that stopping and starting loses nothing. PAIGE_QUICK=1 makes it short; SEED repeats the order of a run.
import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { WORKERS } from './lib/daemon.mjs';
import { smallProject } from './lib/project.mjs';
import { scenario } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const KILLS = process.env.PAIGE_QUICK ? 3 : 50; // of each worker
const KILLS_PER_LIFE = 3;
/** Of each worker in one life, more than the connections that one worker may have to a socket of another (broker_connections.h). */
const KILLS_IN_A_ROW = process.env.PAIGE_QUICK ? 2 : 30;
const PAUSE_MS = [80, 240]; // between two kills
const SEED = Number(process.env.SEED ?? Date.now() % 1e9);

const SAVED_FILES = 25;
const OPENED_FILES = 25;
const BUFFERS = 12;
const LOOPS = 3; // of each kind at a time

/** Small numbers in a fixed order for a seed (mulberry32). */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffled(list, random) {
  return list.map((item) => [random(), item]).sort((a, b) => a[0] - b[0]).map(([, item]) => item);
}

/** What was asked for and what came back, over all lives of the daemon. */
class Ledger {
  constructor() {
    this.number = 1000; // names each request, and is the length of each saved text
    this.saves = new Map(); // number -> {file, acknowledged}
    this.opens = new Map(); // path -> {acknowledged, unknown}
    this.highlights = new Map(); // path -> acknowledged
    this.selections = new Map(); // number -> arrived for sure
    this.buffers = new Map(); // path -> {sent, seen}
  }

  next() {
    this.number += 1;
    return this.number;
  }
}

const bufferText = (name, version) => `${name} version ${version}\n${'unsaved '.repeat(500)}`;
const bufferVersion = (text) => Number(text.match(/version (\d+)\n/)[1]);

/** Everything that is busy while workers die. Each loop goes on until `stop`. */
class Load {
  constructor(daemon, editor, readers, ledger) {
    Object.assign(this, { daemon, editor, readers, ledger, stop: false });
  }

  start() {
    const loops = [this.#select()];
    for (let i = 0; i < LOOPS; i += 1) loops.push(this.#save(i), this.#open(i), this.#highlight(this.readers[2 * i]), this.#type(this.readers[2 * i + 1], i));
    this.finished = Promise.all(loops);
    this.finished.catch(() => (this.stop = true)); // the loops end together; the test sees the reason in finish()
  }

  async finish() {
    this.stop = true;
    await this.finished;
  }

  async #each(pauseMs, body) {
    while (!this.stop) {
      if (this.editor.connected) await body();
      await sleep(pauseMs);
    }
  }

  // Loops of a kind have files of their own, so that one never takes the answer to another.
  #save(loop) {
    return this.#each(4, async () => {
      const number = this.ledger.next();
      const file = `saved/${loop}-${number % SAVED_FILES}.txt`;
      const entry = { file, acknowledged: false };
      this.ledger.saves.set(number, entry);
      const content = `${number}\n`.padEnd(number, '.');
      const answer = await this.editor.ask('file:save', { path: file, content }, ['fs:save_ack', 'fs:save_error'], (payload) => payload.path === file);
      entry.acknowledged = answer?.type === 'fs:save_ack';
    });
  }

  #open(loop) {
    return this.#each(4, async () => {
      const file = `opened/${loop}-${this.ledger.next() % OPENED_FILES}.txt`;
      const entry = this.ledger.opens.get(file) ?? { acknowledged: 0, unknown: 0 };
      this.ledger.opens.set(file, entry);
      const where = (payload) => payload.path === file || payload.context?.path === file;
      const answer = await this.editor.ask('file:open', { path: file }, ['fs:content', 'connection:error'], where);
      entry[answer?.type === 'fs:content' ? 'acknowledged' : 'unknown'] += 1;
    });
  }

  // Selections are not acknowledged: those whose connection outlived them have arrived.
  async #select() {
    let connection = this.editor.connections;
    let recent = [];
    const settle = () => {
      if (this.editor.connected && this.editor.connections === connection) for (const number of recent) this.ledger.selections.set(number, true);
      connection = this.editor.connections;
      recent = [];
    };
    await this.#each(4, async () => {
      if (this.editor.connections !== connection) settle();
      const number = this.ledger.next();
      if (!this.editor.send('editor:selection', { path: 'README.md', range: {}, textLength: number })) return;
      this.ledger.selections.set(number, false);
      recent.push(number);
    });
    await this.editor.ask('file:open', { path: 'README.md' }, 'fs:content', (payload) => payload.path === 'README.md');
    settle();
  }

  #highlight(mcp) {
    return this.#each(4, async () => {
      const file = `highlighted/${this.ledger.next()}.txt`;
      fs.writeFileSync(path.join(this.daemon.projectDir, file), 'a line\n');
      this.ledger.highlights.set(file, false);
      try {
        const { isError } = await mcp.once('paige_highlight_lines', { path: file, start: 1, end: 1, style: 'hint' });
        this.ledger.highlights.set(file, !isError);
      } catch {
        await mcp.reopen();
      }
    });
  }

  #type(mcp, loop) {
    let turn = 0;
    return this.#each(4, async () => {
      turn += 1;
      const file = `typed/${loop}-${turn % (BUFFERS / LOOPS)}.txt`;
      const entry = this.ledger.buffers.get(file) ?? { sent: 0, seen: 0 };
      this.ledger.buffers.set(file, entry);
      entry.sent += 1;
      const update = () => this.editor.send('buffer:update', { path: file, content: bufferText(file, entry.sent), cursorPosition: { line: 1, column: 1 } });
      update();
      let { connections } = this.editor;
      // Seen once Claude can read it; an editor repeats its text when its connection was replaced.
      while (entry.seen < entry.sent) {
        const buffer = await mcp.ok('paige_get_buffer', { path: file });
        const version = buffer === null ? 0 : bufferVersion(buffer.content);
        assert.ok(version >= entry.seen, `${file}: version ${entry.seen} was there, now it is ${version}`);
        entry.seen = version;
        if (entry.seen < entry.sent && this.editor.connected && this.editor.connections !== connections) {
          connections = this.editor.connections;
          update();
        }
      }
    });
  }
}

async function checkBuffers(mcp, ledger) {
  for (const [file, entry] of ledger.buffers) {
    const buffer = await mcp.ok('paige_get_buffer', { path: file });
    assert.deepEqual([buffer?.content, buffer?.dirty], [bufferText(file, entry.sent), true], `the buffer of ${file}`);
  }
}

/** How often each key stands in a list. */
function tally(keys) {
  const counts = new Map();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

async function checkLog(daemon, ledger) {
  const saves = tally((await daemon.actions('file_save')).map((row) => row.data.charCount));
  for (const [number, { acknowledged }] of ledger.saves) exactly('file_save', number, saves.get(number) ?? 0, acknowledged);
  for (const number of saves.keys()) assert.ok(ledger.saves.has(number), `file_save of ${number} characters was never asked for`);

  const highlights = tally((await daemon.actions('decorations_applied')).map((row) => row.data.path));
  for (const [file, acknowledged] of ledger.highlights) exactly('decorations_applied', file, highlights.get(file) ?? 0, acknowledged);

  // What a tool did stands in the log with its call, both or none: their ids are made from one key, and begin alike.
  const call = (row) => row.id.slice(0, 23);
  const calls = tally((await daemon.actions('mcp_tool_call')).filter((row) => row.data.toolName === 'paige_highlight_lines').map(call));
  for (const row of await daemon.actions('decorations_applied')) assert.equal(calls.get(call(row)), 1, `decorations_applied ${row.data.path} and its mcp_tool_call`);
  assert.ok(calls.size <= ledger.highlights.size, `${calls.size} rows of mcp_tool_call for ${ledger.highlights.size} calls`);

  const selections = tally((await daemon.actions('selection')).map((row) => row.data.textLength));
  for (const [number, arrived] of ledger.selections) exactly('selection', number, selections.get(number) ?? 0, arrived);

  const opens = tally((await daemon.actions('file_open')).map((row) => row.data.path));
  for (const [file, { acknowledged, unknown }] of ledger.opens) {
    const rows = opens.get(file) ?? 0;
    assert.ok(rows >= acknowledged && rows <= acknowledged + unknown, `file_open ${file}: ${rows} rows for ${acknowledged} acknowledged and ${unknown} unanswered`);
  }
  assert.deepEqual(await daemon.sql('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  assert.deepEqual(await daemon.sql('PRAGMA foreign_key_check'), []);
}

function exactly(type, key, rows, acknowledged) {
  assert.ok(rows === 1 || (rows === 0 && !acknowledged), `${type} ${key}: ${rows} rows, ${acknowledged ? 'acknowledged' : 'unanswered'}`);
}

function checkFiles(projectDir, ledger) {
  const last = new Map();
  for (const [number, { file, acknowledged }] of ledger.saves) if (acknowledged) last.set(file, number);
  for (const [file, number] of last) {
    const text = fs.readFileSync(path.join(projectDir, file), 'utf8');
    const found = parseInt(text, 10);
    assert.ok(found >= number, `${file}: saved as ${number}, holds ${found}`);
    assert.equal(text.length, found, `${file} is whole`);
  }
}

const count = (map, test) => [...map.values()].filter(test).length;

/** Kills each of `victims` so often, over as many lives of the daemon as that takes, and checks after each life. */
async function storm(t, victims, kills) {
  const random = randomFrom(SEED);
  const opened = {};
  for (let loop = 0; loop < LOOPS; loop += 1) for (let i = 0; i < OPENED_FILES; i += 1) opened[`opened/${loop}-${i}.txt`] = `file ${i}\n`;
  const projectDir = t.keep(smallProject({ ...opened, 'highlighted/README.md': 'Files that tools show.\n' }));
  const dataDir = t.directory('data');
  const ledger = new Ledger();
  let sessionId;

  for (let done = 0; done < kills; done += KILLS_PER_LIFE) {
    const daemon = await t.daemon({ projectDir, dataDir });
    const editor = await t.editor(daemon);
    const readers = [];
    for (let i = 0; i < 2 * LOOPS; i += 1) readers.push(await t.mcp(daemon));
    if (sessionId === undefined) {
      editor.send('session:start', { issueNumber: 1 });
      sessionId = (await editor.next('session:started')).payload.sessionId;
    }
    assert.equal((editor.init.sessionId ?? sessionId), sessionId, 'the session goes on');
    await checkBuffers(readers[0], ledger);

    const load = new Load(daemon, editor, readers, ledger);
    load.start();
    for (let kill = done; kill < Math.min(done + KILLS_PER_LIFE, kills); kill += 1) {
      for (const name of shuffled(victims, random)) {
        await sleep(PAUSE_MS[0] + (PAUSE_MS[1] - PAUSE_MS[0]) * random());
        await daemon.kill9(name);
      }
    }
    await daemon.healthy();
    const enough = 20 * ((done + KILLS_PER_LIFE) / KILLS_PER_LIFE);
    await until('there was load', () => load.stop || count(ledger.saves, (entry) => entry.acknowledged) > enough, { ms: 60_000, every: 200 });
    await load.finish();
    await checkBuffers(readers[0], ledger);
    await until('every acknowledged action in the log', () => checkLog(daemon, ledger).then(() => true), { every: 200 });
    checkFiles(projectDir, ledger);
    await t.release(daemon, editor, ...readers);
    console.log(`${Math.min(done + KILLS_PER_LIFE, kills)} kills of each: ${count(ledger.saves, (entry) => entry.acknowledged)} of ${ledger.saves.size} saves acknowledged, ${count(ledger.highlights, Boolean)} of ${ledger.highlights.size} highlights, ${ledger.selections.size} selections`);
  }
  return ledger;
}

scenario(`${KILLS} kills of each worker under load (SEED=${SEED})`, (t) => storm(t, WORKERS, KILLS));

scenario(`kills of all but the gateway: not even what is never acknowledged is lost (SEED=${SEED})`, async (t) => {
  const ledger = await storm(t, WORKERS.filter((name) => name !== 'gateway'), KILLS_PER_LIFE);
  assert.equal(count(ledger.selections, Boolean), ledger.selections.size, 'the connection outlived every selection');
});

scenario(`${KILLS_IN_A_ROW} kills of each worker in one life: calls are answered behind each, and no connection is refused`, async (t) => {
  const daemon = await t.daemon();
  for (const name of WORKERS) {
    for (let kill = 0; kill < KILLS_IN_A_ROW; kill += 1) {
      await daemon.kill9(name);
      const { code, stderr } = await daemon.ctl('restart', name); // without the pause, which doubles
      assert.equal(code, 0, stderr);
      await daemon.healthy();
      for (const target of ['/cost', '/guards/interview']) await until(`${target} after ${kill} kills of ${name}`, async () => (await daemon.get(target)).status === 200);
      const mcp = kill === KILLS_IN_A_ROW - 1 && (await t.mcp(daemon));
      if (mcp) assert.equal((await mcp.once('paige_get_buffer', { path: 'README.md' })).isError, false, name);
    }
  }
  assert.doesNotMatch(daemon.log('paiged'), /tried to connect to what it may not, or too often/);
});
