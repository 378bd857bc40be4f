// fleet.js - the System view: the workers, as the daemon sees them.
import { el, fill, region, setText } from './dom.js';
import { duration, title } from './format.js';
import { Value } from './store.js';

/**
 * @typedef {{status: string, uptime: number, version?: string, workers: Record<string, string>}} Health as GET /health has it
 * @typedef {{health: Health | null, at: number, changed: Map<string, number>}} FleetNow `changed`: since when a worker is as it is
 * @typedef {Value<FleetNow>} Fleet
 */

const EVERY_MS = 5000;
const LIMIT_MS = 4000;

/**
 * Asks for /health while the page is seen.
 * @returns {Fleet}
 */
export function watchFleet() {
  /** @type {Fleet} */
  const fleet = new Value(/** @type {FleetNow} */ ({ health: null, at: 0, changed: new Map() }));
  const look = async () => {
    if (document.hidden) return;
    try {
      // A daemon with a worker that is away says so with status 503, and still tells which.
      const health = await (await fetch('/health', { signal: within(LIMIT_MS) })).json();
      fleet.set({ health, at: Date.now(), changed: changes(fleet.now, health) });
    } catch {
      fleet.set({ ...fleet.now, health: null, at: Date.now() });
    }
  };
  look();
  setInterval(look, EVERY_MS);
  document.addEventListener('visibilitychange', look);
  return fleet;
}

/** @param {FleetNow} before @param {Health} health */
function changes(before, health) {
  const changed = new Map(before.changed);
  for (const [name, state] of Object.entries(health.workers)) if (before.health?.workers[name] !== state) changed.set(name, Date.now());
  return changed;
}

/** @param {number} ms */
function within(ms) {
  const control = new AbortController();
  setTimeout(() => control.abort(), ms);
  return control.signal;
}

const states = /** @type {Record<string, string>} */ ({ up: 'Up', degraded: 'Degraded: works with something missing', failing: 'Failing: cannot do its main job', parked: 'Parked: waits for a person' });

/** @param {string} name @param {string} state @param {number | undefined} since */
function row(name, state, since) {
  const good = state === 'up';
  return el('tr', {}, el('th', { scope: 'row' }, name), el('td', {}, el('span', { class: `badge ${good ? 'good' : 'bad'}` }, states[state] ?? title(state))), el('td', { class: 'number' }, since ? duration(Date.now() - since) : ''));
}

/** @param {import('./main.js').App} app @returns {import('./main.js').View} */
export function fleetView({ fleet }) {
  const summary = el('p', { class: 'lead' });
  const body = el('tbody');
  const table = el('table', {}, el('thead', {}, el('tr', {}, ...['Worker', 'State', 'For'].map((name) => el('th', { scope: 'col' }, name)))), body);
  const root = el('div', { class: 'page' }, el('h1', {}, 'System'), summary, region('Workers', { class: 'card' }, table), el('p', { class: 'aside' }, 'Counters for a monitoring system: ', el('a', { href: '/metrics' }, '/metrics'), '. On the command line: ', el('code', {}, 'paigectl status'), '.'));
  fleet.watch(({ health, changed }) => {
    if (!health) return setText(summary, 'The daemon does not answer.');
    setText(summary, `${title(health.status)}, up for ${duration(health.uptime * 1000)}.`);
    fill(body, Object.entries(health.workers).map(([name, state]) => row(name, state, changed.get(name))));
  });
  return { root, show() {}, hide() {}, title: () => 'System' };
}
