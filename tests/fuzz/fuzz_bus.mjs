// fuzz_bus.mjs - one worker of a real daemon is a program that attacks the others over the bus (tests/bus/bus_rogue.c).
//
//   fuzz_bus.mjs [--seed N] [--seconds N] [--as WORKER[,WORKER...]] [--burst N] [--verbose]
//
// The seconds are shared by the workers, all of them unless told. After every burst each of the others must be the process that it was (or
// one started anew because nng no longer closed connections), answer, hold a bounded amount of memory, and nothing may have been done in
// another's name. It prints each finding with the seed of its burst, then executions and findings; the exit code is 1 when there are any.
// The same seed sends the same bursts.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Editor } from '../integration/lib/editor.mjs';
import { Rogue } from '../integration/lib/rogue.mjs';
import { ALL_WORKERS } from '../integration/lib/trojan.mjs';
import { brief, until } from '../integration/lib/wait.mjs';

/** What a worker may hold, with what a sanitizer needs on top. */
const MAX_RSS = (process.env.ASAN_OPTIONS ? 1600 : 400) * 1024 * 1024;
/** After a burst a worker has a backlog of what it was sent. */
const ANSWER_MS = 8000;

/** So many bursts hold rows that the rogue may log. */
const BURSTS_WITH_A_ROW = 3;

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: process.env.PAIGE_QUICK ? '14' : '60' },
    as: { type: 'string', default: ALL_WORKERS.join(',') },
    burst: { type: 'string', default: '400' },
    verbose: { type: 'boolean', default: false },
  },
});

/** Names and contents of all files below `dir`. */
function snapshot(dir) {
  return Object.fromEntries(fs.readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath?.includes('/.git') && !entry.path.includes('/.git'))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .map((file) => [file, fs.readFileSync(file, 'utf8')]));
}

/** [type, the workers that may ask the store to log it; none for what the store logs by itself]. */
function loggable() {
  const table = fs.readFileSync(new URL('../../proto/catalogue/actions.def', import.meta.url), 'utf8');
  const worker = (symbol) => symbol.slice('BY_'.length).toLowerCase().replace('_', '-');
  return [...table.matchAll(/^ACTION\(\w+, "(\w+)", ([A-Z_ |]+),/gm)].map(([, type, by]) => [type, by.split(' | ').map(worker).filter((name) => name !== 'store')]);
}

/** What the ids of all rows begin with that the rogue asks the store to write (tests/bus/rogue_make.h). */
const ROGUE_ROW_ID = fs.readFileSync(new URL('../bus/rogue_make.h', import.meta.url), 'utf8').match(/^#define ROGUE_ROW_ID "([0-9a-f]+-)"$/m)[1];

class Stage {
  /** A daemon whose worker `name` is the rogue. */
  static async set(name) {
    const stage = new Stage();
    stage.name = name;
    // Every worker is there; nobody listens where the mirror would send to.
    stage.rogue = await Rogue.in(name, { env: { AGENT_COMMAND: '/bin/false', MIRROR_URL: 'postgresql://127.0.0.1:9/class', LOG_LEVEL: 'error' } });
    stage.daemon = stage.rogue.daemon;
    if (name === 'gateway') {
      const [done] = await stage.rogue.ask('call store session.start {"issueNumber":1}');
      assert.equal(done, 1, 'a session has started');
    } else if (name !== 'store') {
      const editor = await Editor.connect(stage.daemon);
      editor.send('session:start', { issueNumber: 1 });
      await editor.next('session:started');
      editor.close();
    }
    stage.others = (await stage.rogue.workers()).filter((worker) => worker.name !== name);
    Object.assign(stage, { startedAnew: 0, saidBefore: {} });
    stage.files = snapshot(stage.daemon.projectDir);
    stage.rows = await stage.#rows();
    return stage;
  }

  async #rows() {
    const rows = this.name === 'store' ? [] : await this.daemon.sql('SELECT action_type AS type, count(*) AS n FROM action_log GROUP BY 1');
    return Object.fromEntries(rows.map((row) => [row.type, row.n]));
  }

  /** What the rogue had written is known by the ids; of what others write by themselves, only the observer answers events with rows. */
  async #checkRows() {
    if (this.name === 'store') return;
    const own = await this.daemon.sql(`SELECT DISTINCT action_type AS type FROM action_log WHERE id LIKE '${ROGUE_ROW_ID}%'`);
    const rows = await this.#rows();
    for (const [type, by] of loggable()) {
      if (by.includes(this.name)) continue;
      assert.ok(!own.some((row) => row.type === type), `a row of ${type} in another's name`);
      if (this.name !== 'gateway' && by.length && !by.includes('observer')) assert.equal(rows[type] ?? 0, this.rows[type] ?? 0, `rows of ${type} in another's name`);
    }
    this.ownRows ||= own.length > 0;
  }

  /** Throws when nothing was logged that may be: then the rows show nothing. */
  checkOwnRows() {
    if (loggable().some(([, by]) => by.includes(this.name))) assert.ok(this.ownRows, `no row of ${this.name} was logged`);
  }

  async #workers() {
    return (await this.rogue.workers()).filter((w) => w.name !== this.name);
  }

  /** nng 1.5 can stop to close connections after peers that break off, and then only a new process helps (BUS_CONNECTIONS_MAX). */
  #endedForConnections(w) {
    const said = this.daemon.log(w.name).split('connections of the bus are not closed any more').length - 1;
    const ended = w.last_exit?.code === 70 && said > (this.saidBefore[w.name] ?? 0);
    if (ended) this.saidBefore[w.name] = said;
    return ended;
  }

  /** Whether one of the others was started anew for its connections. Throws when one ended otherwise. */
  async #startedAnew() {
    const changed = (await this.#workers()).filter((w) => w.state !== 'ready' || w.pid !== this.others.find((o) => o.name === w.name).pid);
    for (const { name } of changed) {
      const now = async () => (await this.#workers()).find((w) => w.name === name);
      // The last lines of its log may still be on their way.
      const ended = await until('its log', async () => this.#endedForConnections(await now()), { ms: 3000 }).catch(() => false);
      const w = await now();
      assert.ok(ended, `${name} died: ${brief({ state: w.state, ...w.last_exit }, 1500)}`);
      await until(`${name} is ready again`, async () => (await now()).state === 'ready');
      this.others.find((o) => o.name === name).pid = (await now()).pid;
      this.startedAnew += 1;
    }
    return changed.length > 0;
  }

  /** Runs a check, and once more when a worker was started anew beside it. Throws with what is wrong. */
  async check() {
    await this.#startedAnew();
    try {
      await this.#check();
    } catch (error) {
      if (!(await this.#startedAnew())) throw error;
      await this.#check();
    }
  }

  async #check() {
    for (const w of await this.#workers()) assert.ok(w.rss_bytes < MAX_RSS, `${w.name} holds ${Math.round(w.rss_bytes / 1048576)} MiB`);
    for (const { name } of this.others) {
      // Nobody has that method: it is refused at once.
      const ask = () => this.rogue.ask(`call ${name} no.such_method {}`);
      let [done, ms] = await ask();
      // Peers that vanish in the handshake deafen a listener until it listens again (bus_canary.c): who has connected meanwhile is not heard.
      if (done < 0) [done, ms] = await ask();
      assert.ok(done === 0 && ms < ANSWER_MS, `${name} answers ${done} after ${ms} ms`);
    }
    if (this.name !== 'gateway') assert.equal((await this.daemon.get('/health', { ms: ANSWER_MS })).json.workers.store !== undefined, true, 'GET /health');
    // A gateway saves what people type.
    if (this.name !== 'gateway') assert.deepEqual(snapshot(this.daemon.projectDir), this.files, 'files of the project');
    await this.#checkRows();
    const report = this.daemon.everythingWritten().match(/^.*((ERROR|WARNING): \w+Sanitizer|runtime error: ).*$/m);
    assert.ok(!report, `a sanitizer reported: ${report?.[0]}`);
  }

  close() {
    return this.rogue.close();
  }
}

/** {executions, findings} of one worker for so long. */
async function fuzz(name, seed, ms) {
  const told = { executions: 0, bytes: 0, bursts: 0, startedAnew: 0, findings: [] };
  const end = Date.now() + ms;
  let stage = await Stage.set(name);
  try {
    do {
      const burst = seed + told.bursts;
      let trouble;
      try {
        const [messages, bytes] = await stage.rogue.ask(`burst ${burst} ${options.burst}`, 120000);
        told.executions += messages;
        told.bytes += bytes;
        await stage.check();
        if (told.bursts >= BURSTS_WITH_A_ROW) stage.checkOwnRows();
      } catch (error) {
        trouble = error;
      }
      told.bursts += 1;
      if (options.verbose) console.log(`${name}: burst ${burst}, ${told.executions} messages`);
      told.startedAnew += stage.startedAnew;
      stage.startedAnew = 0;
      if (trouble) {
        told.findings.push(`${name}, burst ${burst}: ${trouble.message}`);
        console.log(`FINDING ${told.findings.at(-1)}${options.verbose ? `\n${stage.daemon.tail()}` : ''}`);
        await stage.close();
        stage = await Stage.set(name);
      }
    } while (Date.now() < end);
  } finally {
    await stage.close();
  }
  return told;
}

const names = options.as.split(',');
for (const name of names) if (!ALL_WORKERS.includes(name)) throw new Error(`--as ${name}: expected one of ${ALL_WORKERS.join(', ')}`);
const all = { executions: 0, findings: 0 };
const began = Date.now();
for (const name of names) {
  const start = Date.now();
  const told = await fuzz(name, Number(options.seed) * 1000000, (Number(options.seconds) * 1000) / names.length);
  const seconds = (Date.now() - start) / 1000;
  console.log(`as ${name}: ${told.bursts} bursts, ${told.executions} messages (${Math.round(told.executions / seconds)}/s, ${Math.round(told.bytes / 1048576)} MiB), ${told.startedAnew} workers started anew, ${told.findings.length} findings`);
  all.executions += told.executions;
  all.findings += told.findings.length;
}
console.log(`${all.executions} messages in ${Math.round((Date.now() - began) / 1000)} s (${Math.round((all.executions * 1000) / (Date.now() - began))}/s), ${all.findings} findings`);
process.exit(all.findings ? 1 : 0);
