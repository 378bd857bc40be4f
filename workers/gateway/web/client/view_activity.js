// view_activity.js - the Activity view: the action log, newest first and live, and what the Observer decided and why. Only the
// rows that are seen are in the page. The address says what is shown: #/activity/TYPE,TYPE/TEXT, with "all" for every type.
import { button, el, fill, freshId, region, setText } from './dom.js';
import { brief, count, lately, moment, percent, title } from './format.js';

/**
 * @typedef {import('../../../../proto/docs/paige').ActionEvent} Row
 * @typedef {import('../../../../proto/docs/paige').ObserverDecision} Decision
 * @typedef {import('./connection.js').Connection} Connection
 */

const ROW = 30;
const SPARE = 10;
const PAGE = 200;
/** Pages that are looked through for one that has something, before the person is asked. */
const EMPTY_PAGES_MAX = 40;
const ROWS_MAX = 200000;
const TYPING_MS = 250;
const DECISIONS_MAX = 1000;
const TEXT_MAX = 200;
/** Every type, in the address. */
const ALL = 'all';

const types = ['file_open', 'file_save', 'file_close', 'buffer_summary', 'buffer_significant_change', 'tab_switch', 'selection', 'hint_level_change', 'explain_requested', 'explain_completed', 'review_requested', 'review_completed', 'idle_start', 'idle_end', 'session_started', 'session_resumed', 'session_ended', 'phase_started', 'phase_completed', 'coaching_message', 'coaching_pipeline', 'nudge_sent', 'nudge_suppressed', 'observer_muted', 'mcp_tool_call', 'decorations_applied', 'file_hints_applied', 'dashboard_loaded', 'nudge_answered', 'highlight_dismissed', 'hint_dismissed'];

const verdicts = /** @type {Record<string, string>} */ ({
  nudged: 'Spoke',
  cooldown: 'Silent: it spoke a short while ago',
  flow_state: 'Silent: the learner is in the flow',
  low_confidence: 'Silent: not sure enough',
  no_nudge: 'Silent: no word was needed',
  contradiction: 'Silent: the answer contradicted itself',
  failed: 'Silent: Claude could not be asked',
});

/** The rows that were fetched, and how to get more. */
class Log {
  /** @param {Connection} connection @param {() => void} changed */
  constructor(connection, changed) {
    this.connection = connection;
    this.changed = changed;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {number | undefined} */
    this.next = undefined;
    this.done = false;
    this.busy = false;
    this.newest = 0;
    /** @type {string[]} none: all of them */
    this.types = [];
    this.text = '';
    this.problem = '';
    this.run = 0;
    connection.on('log:row', ({ payload }) => this.live(payload));
  }

  /** Not everything is asked for. */
  get filtered() {
    return this.types.length > 0 || this.text !== '';
  }

  /** Begins anew, with the newest. */
  reset() {
    this.run += 1;
    Object.assign(this, { rows: [], next: undefined, done: false, busy: false, problem: '' });
    return this.more();
  }

  async more() {
    if (this.busy || this.done) return;
    const { run } = this;
    this.busy = true;
    this.changed();
    try {
      for (let i = 0, found = 0; i < EMPTY_PAGES_MAX && found === 0 && !this.done; i += 1) {
        const { payload } = await this.connection.ask('log:page', { limit: PAGE, ...(this.next !== undefined && { before: this.next }), ...(this.types.length > 0 && { types: this.types }), ...(this.text && { text: this.text }) }, ['log:rows']);
        if (run !== this.run) return;
        found = payload.rows.length;
        // Rows that came live while the page was read may be in it, too.
        const last = this.rows.at(-1)?.n ?? Infinity;
        this.rows.push(...payload.rows.filter(({ n }) => n < last));
        this.next = payload.next;
        this.done = payload.next === undefined || this.rows.length >= ROWS_MAX;
        this.newest = Math.max(this.newest, this.rows[0]?.n ?? 0);
      }
      this.problem = '';
    } catch (error) {
      if (run !== this.run) return;
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.busy = false;
    this.changed();
  }

  /** @param {Row} row */
  live(row) {
    const gap = this.newest !== 0 && row.n > this.newest + 1;
    this.newest = Math.max(this.newest, row.n);
    if (gap) return void this.reset();
    if (this.types.length > 0 && !this.types.includes(row.type)) return;
    if (this.text && !`${row.type} ${JSON.stringify(row.data)}`.toLowerCase().includes(this.text.toLowerCase())) return;
    // The newest is the first, so what is not newer is there already or was not asked for.
    if (row.n <= (this.rows[0]?.n ?? 0)) return;
    this.rows.unshift(row);
    if (this.rows.length > ROWS_MAX) this.rows.pop();
    this.changed();
  }
}

/** @param {Connection} connection @param {(row: Row) => void} open shows a row */
function actions(connection, open) {
  const space = el('div', { class: 'log-space', role: 'rowgroup' });
  const head = el('div', { class: 'log-head', role: 'row', 'aria-rowindex': 1 }, ...['Time', 'What', 'Details'].map((name) => el('span', { role: 'columnheader' }, name)));
  const list = el('div', { class: 'log', role: 'table', 'aria-label': 'Actions', tabindex: '0' }, el('div', { role: 'rowgroup', class: 'log-top' }, head), space);
  const said = el('p', { class: 'aside', role: 'note' });
  const older = button('Look further back', () => log.more());
  let before = 0;
  const log = new Log(connection, () => {
    // What is looked at stays where it is when something new comes above it.
    if (list.scrollTop > ROW && log.rows.length === before + 1) list.scrollTop += ROW;
    before = log.rows.length;
    draw();
  });
  const draw = () => {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - SPARE);
    const last = Math.min(log.rows.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + SPARE);
    space.style.height = `${log.rows.length * ROW}px`;
    fill(space, log.rows.slice(first, last).map((row, i) => line(row, first + i, open)));
    list.setAttribute('aria-rowcount', String(log.done ? log.rows.length + 1 : -1));
    setText(said, log.problem || (log.busy ? 'Reading the log.' : log.rows.length ? `${count(log.rows.length, 'row')}${log.done ? ', that is all' : ', older ones come when you scroll'}` : log.filtered ? 'Nothing in the log matches.' : 'Nothing is in the log yet: what is done in a session is logged.'));
    older.hidden = log.busy || log.done || log.rows.length * ROW > list.clientHeight;
    if (!log.busy && !log.done && !log.problem && log.rows.length > 0 && last >= log.rows.length - SPARE) log.more();
  };
  list.addEventListener('scroll', draw);
  new ResizeObserver(draw).observe(list);
  return { list, said, older, log };
}

/** What one row says, all of it. */
class RowDetail {
  constructor() {
    this.name = el('p', { class: 'row-name' });
    this.data = el('pre', { tabindex: '0', 'aria-label': 'Data of the row' });
    this.root = el('div', { class: 'row-detail', role: 'group', 'aria-label': 'Row', hidden: true }, el('div', { class: 'row' }, this.name, button('Close', () => (this.root.hidden = true), { class: 'small' })), this.data);
  }

  /** @param {Row} row */
  show(row) {
    setText(this.name, `${title(row.type)}, ${moment(row.createdAt)}, number ${row.n}, session ${row.sessionId}`);
    setText(this.data, row.data === null ? 'Nothing, or more than can be shown here.' : JSON.stringify(row.data, null, 2));
    this.root.hidden = false;
  }
}

/** @param {Row} row @param {number} index @param {(row: Row) => void} open */
function line(row, index, open) {
  const text = brief(row.data);
  const node = el('div', { class: 'log-row', role: 'row', 'aria-rowindex': index + 2 }, el('time', { role: 'cell', datetime: row.createdAt, title: row.createdAt }, lately(row.createdAt)), el('span', { role: 'cell', class: 'log-type' }, button(title(row.type), () => open(row), { class: 'link', 'aria-label': `${title(row.type)}, all of it` })), el('span', { role: 'cell', class: 'log-data', title: text }, text));
  node.style.top = `${index * ROW}px`;
  return node;
}

/** @param {Decision} decision */
function decisionRow({ at, trigger, verdict, signal, confidence, threshold, reasoning }) {
  return el(
    'tr',
    {},
    el('td', { class: 'when' }, el('time', { datetime: at }, moment(at))),
    el('td', {}, title(trigger)),
    el('td', {}, el('span', { class: `badge ${verdict === 'nudged' ? 'good' : verdict === 'failed' ? 'bad' : 'plain'}` }, verdicts[verdict] ?? title(verdict))),
    el('td', { class: 'number' }, confidence === null ? 'not asked' : `${percent(confidence)} of ${percent(threshold)}`),
    el('td', { class: 'wide' }, signal && signal !== 'no_nudge' ? `${title(signal)}. ` : '', reasoning ?? ''),
  );
}

/** @param {Connection} connection */
function decisions(connection) {
  const body = el('tbody');
  const empty = el('p', { class: 'empty' }, 'The Observer has not had to decide anything yet. It looks when files are opened or saved, and when the learner pauses.');
  const table = el('table', {}, el('thead', {}, el('tr', {}, ...['When', 'Because of', 'Decision', 'Sure', 'Why'].map((name) => el('th', { scope: 'col', class: name === 'Sure' ? 'number' : null }, name)))), body);
  const older = button('Older decisions', () => read(next));
  const end = el('p', { class: 'aside', role: 'note', hidden: true });
  /** @type {number | undefined} */
  let next;
  let forgotten = 0;
  const draw = () => {
    empty.hidden = body.childElementCount > 0;
    table.hidden = !empty.hidden;
    older.hidden = next === undefined || body.childElementCount >= DECISIONS_MAX;
    end.hidden = !older.hidden || forgotten === 0;
    if (!end.hidden) setText(end, `${count(forgotten, 'older decision')} ${forgotten === 1 ? 'is' : 'are'} forgotten: the Observer remembers only the newest. When it spoke, and what held it back, stays in the actions.`);
  };
  /** @param {number} [before] */
  const read = async (before) => {
    try {
      const { payload } = await connection.ask('observer:history', { limit: 50, ...(before !== undefined && { before }) }, ['observer:decisions']);
      if (before === undefined) body.replaceChildren();
      body.append(...payload.decisions.map(decisionRow));
      next = payload.next;
      forgotten = payload.forgotten ?? 0;
    } catch {
      // Read again with the next connection.
    }
    draw();
  };
  connection.on('observer:decision', ({ payload }) => {
    body.prepend(decisionRow(payload));
    while (body.childElementCount > DECISIONS_MAX) body.lastElementChild?.remove();
    draw();
  });
  draw();
  return { root: region('Observer', { class: 'card decisions' }, empty, el('div', { class: 'scrolls', tabindex: '0', role: 'group', 'aria-label': 'Decisions of the Observer' }, table), older, end), read };
}

/**
 * Which types of rows are shown: none chosen means all.
 * @param {() => void} changed
 */
function typeFilter(changed) {
  const boxes = types.map((name) => el('input', { type: 'checkbox', value: name, onchange: () => choose() }));
  const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const summary = el('summary', {}, 'Everything');
  const all = button('Everything', () => {
    for (const box of boxes) box.checked = false;
    choose();
  }, { class: 'small' });
  const name = () => {
    const now = chosen();
    setText(summary, now.length === 0 ? 'Everything' : now.length <= 2 ? now.map(title).join(', ') : count(now.length, 'type'));
  };
  const choose = () => {
    name();
    changed();
  };
  /** @param {string[]} names what is no type is left out */
  const set = (names) => {
    for (const box of boxes) box.checked = names.includes(box.value);
    name();
  };
  const list = el('fieldset', { class: 'types-list' }, el('legend', { class: 'unseen' }, 'Types'), all, boxes.map((box) => el('label', {}, box, ' ', title(box.value))));
  const root = el('details', { class: 'types' }, summary, list);
  root.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !root.open) return;
    root.open = false;
    summary.focus();
  });
  // It covers rows of the log, so it closes when somebody goes elsewhere.
  for (const event of /** @type {const} */ (['pointerdown', 'focusin']))
    document.addEventListener(event, ({ target }) => {
      if (!root.contains(/** @type {Node} */ (target))) root.open = false;
    });
  return { root, chosen, set };
}

/** @param {import('./main.js').App} app @returns {import('./main.js').View} */
export function activityView({ connection }) {
  const detail = new RowDetail();
  const { list, said, older, log } = actions(connection, (row) => detail.show(row));
  const observer = decisions(connection);
  const filtered = typeFilter(() => search());
  const text = el('input', { id: freshId('text'), type: 'search', maxlength: String(TEXT_MAX), oninput: () => later() });
  let timer = 0;
  let seen = false;
  const address = () => {
    const parts = [filtered.chosen().join(',') || ALL, ...(text.value.trim() ? [encodeURIComponent(text.value.trim())] : [])];
    return parts.join('/') === ALL ? '#/activity' : `#/activity/${parts.join('/')}`;
  };
  const search = () => {
    const wanted = { types: filtered.chosen(), text: text.value.trim() };
    if (location.hash !== address()) history.replaceState(null, '', address());
    if (JSON.stringify(wanted) === JSON.stringify({ types: log.types, text: log.text })) return;
    Object.assign(log, wanted);
    list.scrollTop = 0;
    if (seen && connection.status.now.up) log.reset();
  };
  const later = () => {
    clearTimeout(timer);
    timer = window.setTimeout(search, TYPING_MS);
  };
  const begin = () => {
    if (!seen || !connection.status.now.up) return;
    connection.tell('log:follow', { follow: true });
    log.reset();
    observer.read();
  };
  connection.on('connection:init', begin);
  const filter = el('form', { class: 'row filter', role: 'search', onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, el('span', {}, 'Show'), filtered.root, el('label', { for: text.id }, 'with'), text, said);
  const root = el('div', { class: 'page activity' }, el('h1', {}, 'Activity'), filter, el('section', { class: 'card log-card', 'aria-label': 'Action log' }, list, older, detail.root), observer.root);
  return {
    root,
    show([names, words]) {
      // The link to this view keeps what was chosen before; any other address says what to show.
      if (names) {
        filtered.set(names.split(','));
        text.value = (words ?? '').slice(0, TEXT_MAX);
      }
      search();
      if (seen) return;
      seen = true;
      begin();
    },
    hide() {
      clearTimeout(timer);
    },
    title: () => 'Activity',
  };
}
