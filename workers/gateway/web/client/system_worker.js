// system_worker.js - one worker, or the supervisor: how it is, its figures, how it ended last, and its log, followed live.
import { button, el, fill, freshId, region, setText } from './dom.js';
import { brief, count, duration, instant, title } from './format.js';
import { badge, facts, reason, spark } from './parts.js';
import { Refused } from './connection.js';

/**
 * @typedef {import('../../../../proto/docs/paige').CtlWorker} Worker
 * @typedef {import('../../../../proto/docs/paige').LogLineLevel} Level
 * @typedef {import('../../../../proto/docs/paige').StatusState['daemon']} Daemon
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {{memory: number[], cpu: number[]}} Samples
 */

/** As the daemon calls its supervisor, which has a log but is no worker. */
export const SUPERVISOR = 'paiged';
const EVERY_MS = 1000;
const PAGE = 200;
const LINES_MAX = 3000;
const DETAILS_MAX = 40;

const levels = /** @type {[string, string][]} */ ([['', 'Everything'], ['info', 'Info and above'], ['warn', 'Warnings and errors'], ['error', 'Errors']]);
const kinds = /** @type {Record<string, 'bad' | 'warn' | 'plain'>} */ ({ error: 'bad', warn: 'warn' });

export const mib = (/** @type {number} */ bytes) => `${(bytes / 1048576).toFixed(1)} MiB`;

/** @param {Worker} worker */
export function stateOf(worker) {
  const good = worker.state === 'ready' && worker.condition === 'fine';
  if (good) return badge('good', 'Up');
  if (worker.want === 'down' && worker.state === 'down') return badge('plain', 'Not wanted');
  return badge(worker.state === 'ready' && worker.condition === 'degraded' ? 'warn' : 'bad', worker.state === 'ready' ? `Up, ${worker.condition}` : title(worker.state));
}

/**
 * A line of our own form is taken apart; any other is shown as it is.
 * @param {string} text
 */
function lineOf(text) {
  const parts = /^ts=(\S+) level=(\S+) worker=\S+ msg=("(?:[^"\\]|\\.)*"|[^" ]+)(.*)$/.exec(text);
  if (!parts) return el('li', { class: 'line' }, el('span', { class: 'line-text' }, text));
  const [, at, level, quoted, rest] = parts;
  let message = quoted;
  try {
    // One word stands there without quotes.
    if (quoted.startsWith('"')) message = JSON.parse(quoted);
  } catch {
    // Shown as it was written.
  }
  return el('li', { class: `line ${level}` }, el('time', { datetime: at, title: at }, instant(at)), badge(kinds[level] ?? 'plain', title(level)), el('span', { class: 'line-text' }, message, rest && el('span', { class: 'line-rest' }, rest)));
}

/** One log: the last lines, what comes, and older pages on demand. */
class Log {
  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    this.worker = '';
    this.run = 0;
    this.timer = 0;
    /** @type {number | undefined} */
    this.first = undefined;
    /** @type {number | undefined} */
    this.next = undefined;
    this.level = el('select', { id: freshId('level'), onchange: () => this.begin() }, levels.map(([value, name]) => el('option', { value }, name)));
    this.follow = button('Pause', () => this.pause(), { 'aria-pressed': 'false' });
    this.older = button('Older lines', () => this.back(), { class: 'small' });
    this.said = el('p', { class: 'aside', role: 'note' });
    this.list = el('ol', { class: 'lines' });
    this.box = el('div', { class: 'log-lines', tabindex: '0', role: 'group', 'aria-label': 'Lines of the log' }, this.older, this.list);
    this.root = region('Log', { class: 'card' }, el('div', { class: 'row' }, el('label', { for: this.level.id }, 'Show'), this.level, this.follow, this.said), this.box);
    this.paused = false;
  }

  /** @param {string} worker */
  open(worker) {
    if (this.worker === worker) return;
    this.worker = worker;
    this.begin();
  }

  close() {
    this.worker = '';
    this.run += 1;
    clearTimeout(this.timer);
  }

  /** From the last lines on. */
  begin() {
    this.run += 1;
    clearTimeout(this.timer);
    Object.assign(this, { first: undefined, next: undefined });
    this.list.replaceChildren();
    this.older.hidden = true;
    setText(this.said, 'The log is being read.');
    this.more(this.run);
  }

  pause() {
    this.paused = !this.paused;
    this.run += 1; // what is still under way would be asked for again, and shown twice
    clearTimeout(this.timer);
    this.follow.setAttribute('aria-pressed', String(this.paused));
    setText(this.follow, this.paused ? 'Go on' : 'Pause');
    if (!this.paused) this.more(this.run);
    this.tell();
  }

  /** @param {{after?: number, before?: number}} where */
  ask(where) {
    return this.connection.ask('worker:log', { worker: this.worker, lines: where.after === undefined ? PAGE : 500, ...(this.level.value && { level: /** @type {Level} */ (this.level.value) }), ...where }, ['worker:log_lines']);
  }

  /** @param {number} run */
  async more(run) {
    clearTimeout(this.timer);
    try {
      if (this.connection.status.now.up && !document.hidden) {
        const { payload } = await this.ask(this.next === undefined ? {} : { after: this.next });
        if (run !== this.run) return;
        this.take(/** @type {string[]} */ (payload.lines), payload.missed);
        if (this.next === undefined) this.first = payload.first;
        this.next = payload.next;
        this.tell();
      }
    } catch (error) {
      if (run !== this.run) return;
      setText(this.said, reason(error));
      // Who may not look need not ask again.
      if (error instanceof Refused && !['BUSY', 'UNAVAILABLE', 'TIMEOUT'].includes(error.code)) return;
    }
    if (run === this.run && !this.paused) this.timer = window.setTimeout(() => this.more(run), EVERY_MS);
  }

  /** @param {string[]} lines @param {boolean} missed */
  take(lines, missed) {
    const atEnd = this.box.scrollTop + this.box.clientHeight >= this.box.scrollHeight - 8;
    if (missed) this.list.append(el('li', { class: 'line warn' }, el('span', { class: 'line-text' }, 'Lines are missing here: there were more than could be shown.')));
    if (lines.length === 0) return;
    this.list.append(...lines.map(lineOf));
    while (this.list.childElementCount > LINES_MAX) this.list.firstElementChild?.remove();
    if (atEnd) this.box.scrollTop = this.box.scrollHeight;
  }

  async back() {
    const { run } = this;
    if (this.first === undefined) return;
    this.older.disabled = true;
    try {
      const { payload } = await this.ask({ before: this.first });
      if (run !== this.run) return;
      const from = this.box.scrollHeight;
      this.list.prepend(.../** @type {string[]} */ (payload.lines).map(lineOf));
      this.first = payload.first;
      this.box.scrollTop += this.box.scrollHeight - from;
      this.tell();
    } catch (error) {
      setText(this.said, reason(error));
    }
    this.older.disabled = false;
  }

  tell() {
    const shown = this.list.childElementCount;
    this.older.hidden = this.first === undefined || shown >= LINES_MAX;
    setText(this.said, `${shown === 0 ? 'No line of this level' : count(shown, 'line')}, ${this.paused ? 'paused' : 'new ones come as they are written'}`);
  }
}

/** @param {string} name @param {string} now @param {number[]} values */
function figure(name, now, values) {
  return el('div', { class: 'figure' }, el('span', { class: 'aside' }, name), el('strong', { class: 'number' }, now), spark(values, 'wide-spark'));
}

/** @param {unknown} detail what a worker says of itself */
function details(detail) {
  if (detail === null || typeof detail !== 'object') return [];
  const list = Object.entries(detail).slice(0, DETAILS_MAX);
  return list.map(([name, value]) => /** @type {[string, string]} */ ([title(name), value === null ? 'none' : brief(value)]));
}

/** @param {Daemon} daemon */
function supervisorFacts(daemon) {
  return facts([['State', title(daemon.state)], ['Process', String(daemon.pid)], ['Up for', duration(daemon.uptime_ms)], ['Memory', mib(daemon.rss_bytes)]]);
}

/**
 * The page of one worker or of the supervisor, which can only be restarted from outside.
 * @param {Connection} connection
 * @param {(worker: string) => void} restart
 */
export function workerPage(connection, restart) {
  const log = new Log(connection);
  const name = el('h1');
  const state = el('div');
  const self = el('div');
  const ended = el('div');
  let shown = '';
  const foot = el('div', { class: 'row end' }, button('Restart', () => restart(shown)));
  const root = el('div', { hidden: true }, el('p', { class: 'crumbs' }, el('a', { href: '#/system' }, 'System')), name, el('section', { class: 'card', 'aria-label': 'State' }, state, foot), ended, self, log.root);
  return {
    root,
    /** @param {string} worker */
    show(worker) {
      root.hidden = false;
      if (shown !== worker) fill(state, el('p', { class: 'empty' }, 'The state is being read.'));
      if (shown !== worker) for (const part of [self, ended]) part.replaceChildren();
      shown = worker;
      foot.hidden = worker === SUPERVISOR;
      setText(name, worker);
      log.open(worker);
    },
    hide() {
      root.hidden = true;
      log.close();
    },
    /** @param {Node} said what became of a restart */
    place: (said) => foot.prepend(said),
    begin: () => shown && !root.hidden && log.begin(),
    /** @param {Daemon} daemon @param {(name: string) => Samples} samples */
    draw(daemon, samples) {
      if (root.hidden) return;
      if (shown === SUPERVISOR) return fill(state, supervisorFacts(daemon));
      const worker = daemon.workers.find((one) => one.name === shown);
      if (!worker) return fill(state, el('p', { class: 'problem' }, `There is no worker ${shown}.`));
      const { memory, cpu } = samples(shown);
      fill(state, facts([
        ['State', el('span', {}, stateOf(worker), worker.reason ? ` ${worker.reason}` : '')],
        ['Process', worker.pid === null ? 'none' : String(worker.pid)],
        ['Up for', worker.pid === null ? 'not running' : duration(worker.uptime_ms)],
        ['Restarts', `${worker.restarts.total}, ${worker.restarts.window_60s} in the last minute`],
        ['Last sign of life', worker.pid === null ? 'none' : `${(worker.heartbeat_age_ms / 1000).toFixed(1)} s ago`],
        ['Processor time', duration(worker.cpu_ms)],
        ['Confined by', worker.confinement ?? 'nothing'],
        ...(worker.next_start_ms === undefined ? [] : [/** @type {[string, string]} */ (['Started again in', duration(worker.next_start_ms)])]),
      ]), el('div', { class: 'sparks' }, figure('Memory, last minute', mib(worker.rss_bytes), memory), figure('Processor, last minute', `${worker.cpu_percent.toFixed(1)} %`, cpu)));
      const own = details(worker.detail);
      fill(self, own.length > 0 && region('What it says of itself', { class: 'card' }, facts(own)));
      const { last_exit: last } = worker;
      fill(ended, last ? region('Last end', { class: 'card' }, el('p', {}, `${instant(last.at)}: ${last.meaning}`), last.log_tail && last.log_tail.length > 0 && el('pre', { tabindex: '0', 'aria-label': 'Its last lines' }, last.log_tail.join('\n'))) : null);
    },
  };
}
