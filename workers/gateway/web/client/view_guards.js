// view_guards.js - the Guards view: every guard machine with its countdown; of the one in the address state, last effects, events; the
// agent sessions.
import { agentsCard } from './agents.js';
import { el, fill, region, setText } from './dom.js';
import { brief, clock, count, moment, title } from './format.js';
import { Scrubber } from './guard_events.js';
import { drawState, kinds } from './guard_states.js';
import { badge, tick, until } from './parts.js';

/**
 * @typedef {import('../../../../proto/docs/paige').GuardKind} Kind
 * @typedef {import('../../../../proto/docs/paige').GuardInfo} Info
 * @typedef {{kind: Kind, info: Info}} Machine
 */

const EFFECTS_MAX = 20;
/** Machines that are listed; the newest, and the chosen one. */
const LISTED_MAX = 200;
/** The list is read once for all that happens in this time. */
const LIST_MS = 1000;

/** The list of all machines, the one that changed last first. */
class Machines {
  constructor() {
    /** @type {Map<string, Machine>} */
    this.all = new Map();
    this.list = el('ul', { class: 'machines' });
    this.said = el('p', { class: 'aside', role: 'note' });
    this.empty = el('p', { class: 'empty' }, 'There is no guard machine. A program makes one by HTTP: ', el('code', {}, 'POST /guards/session-guard'), '.');
    this.scroller = el('div', { class: 'scrolls tall', tabindex: '0', role: 'group', 'aria-label': 'All machines' }, this.list);
    this.root = region('Guards', { class: 'card' }, this.empty, this.said, this.scroller);
    /** The one that was chosen when the list was drawn last. */
    this.drawn = '';
    // A narrow window has a lower list, and so a page that is shown for the first time.
    new ResizeObserver(() => this.reveal()).observe(this.scroller);
  }

  /** How far the chosen one is above the part of the list that is seen, and how far below it. */
  hides() {
    const item = this.list.querySelector('.chosen');
    if (!item) return { above: 0, below: 0 };
    const [seen, own] = [this.scroller.getBoundingClientRect(), item.getBoundingClientRect()];
    return { above: Math.max(seen.top - own.top, 0), below: Math.max(own.bottom - seen.bottom, 0) };
  }

  /** Scrolls the list, and not the page, until the chosen one is seen. */
  reveal() {
    this.scroller.scrollTop += this.hides().below;
    this.scroller.scrollTop -= this.hides().above;
  }

  /** @param {string} chosen */
  draw(chosen) {
    const { above, below } = this.hides();
    // Whoever has scrolled away from it stays there, and whoever sees it goes on seeing it, wherever in the list it is now.
    const reveals = chosen !== this.drawn || above + below < 1;
    const sorted = [...this.all.entries()].sort(([, a], [, b]) => b.info.changedAt - a.info.changedAt);
    const shown = sorted.filter(([key], i) => i < LISTED_MAX || key === chosen);
    fill(this.list, shown.map(([key, { kind, info }]) => el('li', { class: key === chosen ? 'machine chosen' : 'machine' }, el('a', { href: `#/guards/${kind}/${encodeURIComponent(info.id)}`, 'aria-current': key === chosen ? 'true' : null }, info.id), el('div', { class: 'machine-facts' }, badge('plain', kinds[kind]), el('span', { class: 'aside' }, `event ${info.cursor}, ${moment(info.changedAt)}`), info.nextDeadline ? el('span', {}, 'next deadline in ', until(info.nextDeadline)) : ''))));
    setText(this.said, this.all.size > LISTED_MAX ? `The last ${LISTED_MAX} of ${count(this.all.size, 'machine')}` : count(this.all.size, 'machine'));
    this.drawn = this.all.has(chosen) ? chosen : '';
    if (reveals) this.reveal();
    this.empty.hidden = this.all.size > 0;
    this.said.hidden = this.all.size === 0;
  }
}

/** @param {import('./main.js').App} app @returns {import('./main.js').View} */
export function guardsView({ connection }) {
  const machines = new Machines();
  const agents = agentsCard(connection);
  /** @type {Map<string, unknown>} */
  const states = new Map();
  /** @type {Map<string, {at: number, effect: Record<string, unknown>}[]>} */
  const effects = new Map();
  const name = el('h2', { class: 'machine-name' });
  const inside = el('div');
  const lately = el('ul', { class: 'effects' });
  const nothing = el('p', { class: 'empty' }, 'None since this page was opened. What came before is among the events.');
  const events = new Scrubber(connection);
  const detail = el('div', { class: 'guard' }, el('section', { class: 'card', 'aria-label': 'State' }, name, inside), events.root, el('section', { class: 'card', 'aria-label': 'Effects' }, el('h2', {}, 'Last effects'), nothing, lately));
  const choose = el('p', { class: 'blank card' }, 'Choose a machine to see its state and its events.');
  const grid = el('div', { class: 'guards-grid' }, el('div', { class: 'guards-side' }, machines.root, agents.root), el('div', {}, choose, detail));
  const root = el('div', { class: 'page guards' }, el('h1', {}, 'Guards'), grid);
  let chosen = '';
  let seen = false;
  let known = false;
  let late = 0;

  const drawDetail = () => {
    const machine = machines.all.get(chosen);
    const state = states.get(chosen);
    detail.hidden = !machine;
    grid.classList.toggle('alone', machines.all.size === 0);
    choose.hidden = Boolean(machine) || machines.all.size === 0;
    setText(choose, chosen && known ? `There is no machine ${chosen}.` : 'Choose a machine to see its state and its events.');
    if (!machine) return;
    setText(name, `${kinds[machine.kind]}, ${machine.info.id}`);
    fill(inside, state ? drawState(machine.kind, state) : el('p', { class: 'empty' }, 'The state is being read.'));
    const said = effects.get(chosen) ?? [];
    nothing.hidden = said.length > 0;
    fill(lately, said.map(({ at, effect: { type, ...rest } }) => el('li', {}, el('time', {}, clock(at)), ' ', el('strong', {}, title(String(type ?? 'effect'))), Object.keys(rest).length > 0 && el('span', { class: 'aside' }, ` ${brief(rest)}`))));
  };
  const readList = async () => {
    for (const kind of /** @type {Kind[]} */ (Object.keys(kinds))) {
      // One that fails is read again with the next connection or change.
      const answer = await connection.ask('guard:list', { kind }, ['guard:machines']).catch(() => null);
      for (const info of answer?.payload.instances ?? []) machines.all.set(`${kind}/${info.id}`, { kind, info });
    }
    known = true;
    machines.draw(chosen);
  };
  const open = () => {
    const machine = machines.all.get(chosen);
    drawDetail();
    if (!machine) return;
    connection.tell('guard:subscribe', { kind: machine.kind, id: machine.info.id });
    events.read(machine.kind, machine.info.id);
  };
  const begin = async () => {
    if (!seen || !connection.status.now.up) return;
    connection.tell('guard:follow', { follow: true });
    await readList();
    open();
  };
  connection.on('connection:init', begin);
  connection.on('guard:state', ({ payload: { kind, id, cursor, state } }) => {
    const key = `${kind}/${id}`;
    const machine = machines.all.get(key);
    if (machine && key === chosen) {
      states.set(key, state);
      if (machine.info.cursor !== cursor) events.read(kind, id);
      drawDetail();
    }
    if (machine) machine.info = { ...machine.info, changedAt: machine.info.cursor === cursor ? machine.info.changedAt : Date.now(), cursor };
    // The deadlines are in the list.
    if (!late) late = window.setTimeout(refresh, LIST_MS);
  });
  const refresh = async () => {
    const had = machines.all.has(chosen);
    late = 0;
    await readList();
    if (!had && machines.all.has(chosen)) open();
  };
  connection.on('guard:effect', ({ payload: { kind, id, effect } }) => {
    const key = `${kind}/${id}`;
    if (key !== chosen) return;
    effects.set(key, [{ at: Date.now(), effect }, ...(effects.get(key) ?? [])].slice(0, EFFECTS_MAX));
    drawDetail();
  });
  tick(root);
  machines.draw(chosen);
  drawDetail();
  return {
    root,
    show([kind, id]) {
      agents.show(true);
      chosen = kind && id ? `${kind}/${id}` : '';
      if (seen) {
        machines.draw(chosen);
        open();
      }
      if (seen) return;
      seen = true;
      begin();
    },
    hide() {
      agents.show(false);
    },
    title: () => (chosen ? `${chosen}, Guards` : 'Guards'),
  };
}
