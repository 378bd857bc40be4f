// main.js - the frame of the page: navigation, status line, and which view is shown. Each view has an address of its own.
import { Connection } from './connection.js';
import { el, fill, setText } from './dom.js';
import { clock } from './format.js';
import { Session } from './session.js';

/**
 * @typedef {{connection: Connection, session: Session}} App
 * @typedef {{root: HTMLElement, show(rest: string[]): void, hide(): void, title(): string}} View
 * @typedef {(app: App) => View} Make
 */

const COST_EVERY_MS = 60000;
/** After so long the first view is there, and the rest is read. */
const READ_AHEAD_MS = 3000;

/**
 * How the views are read, by the first part of their addresses.
 * @type {Record<string, () => Promise<Make>>}
 */
const places = {
  work: async () => (await Promise.all([import('./view_work.js'), import(/** @type {string} */ (document.documentElement.dataset.codemirror))]))[0].workView,
  progress: async () => (await import('./view_progress.js')).progressView,
  guards: async () => (await import('./view_guards.js')).guardsView,
  activity: async () => (await import('./view_activity.js')).activityView,
  system: async () => (await import('./view_system.js')).systemView,
};

const main = /** @type {HTMLElement} */ (document.getElementById('main'));
const status = /** @type {HTMLElement} */ (document.getElementById('status'));
const connection = new Connection();
/** @type {App} */
const app = { connection, session: new Session(connection) };
/** @type {Map<string, View>} */
const views = new Map();
/** @type {View | null} */
let shown = null;
/** Addresses that were gone to. */
let routed = 0;
const missing = el('p', { class: 'page problem', role: 'alert', hidden: true }, 'This view could not be read from the daemon. Reload the page once it is there.');

const links = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll('#views a')]);
document.getElementById('skip')?.addEventListener('click', () => main.focus());

/** The parts of the address, decoded; what cannot be decoded is taken as it is. */
function address() {
  return location.hash.replace(/^#\/?/, '').split('/').map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

/**
 * The view at an address, made when it is first wanted; null when it could not be read.
 * @param {string} path
 */
async function viewAt(path) {
  const make = views.has(path) ? null : await places[path]().catch(() => null);
  if (make && !views.has(path)) {
    const view = make(app);
    view.root.hidden = true;
    views.set(path, view);
    main.append(view.root);
  }
  return views.get(path) ?? null;
}

async function route() {
  const [first, ...rest] = address();
  const path = Object.hasOwn(places, first) ? first : 'work';
  routed += 1;
  const mine = routed;
  for (const link of links) link.hash === `#/${path}` ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current');
  const view = await viewAt(path);
  // Somebody may have gone elsewhere meanwhile.
  if (mine !== routed) return;
  if (shown !== view) shown?.hide();
  for (const [other, { root }] of views) root.hidden = other !== path;
  missing.hidden = view !== null;
  shown = view;
  view?.show(rest);
  document.title = `${view?.title() ?? links.find((link) => link.hash === `#/${path}`)?.textContent} · Paige`;
}

/** Reads the rest while nothing else is to be done, so that it is there when the daemon is not. */
function readAhead() {
  for (const load of [...Object.values(places), () => import('./markdown.js'), () => import('./comparison.js')]) load().catch(() => null);
}

/**
 * What Claude has cost today, in US dollars; null until it is known.
 * @type {number | null}
 */
let costToday = null;

async function readCost() {
  const answer = await connection.ask('cost:request', { days: 1 }, ['cost:totals']).catch(() => null);
  if (!answer) return;
  costToday = answer.payload.budget.spentDay;
  tellStatus();
}

/** Whether there is a connection, in words. */
function connected() {
  const { up, since, init } = connection.status.now;
  if (up) return 'Connected';
  return init ? `Not connected since ${clock(since)}, trying again` : 'Connecting';
}

/** What the page knows of the session. */
function aboutSession() {
  const session = app.session.active.now;
  if (!session) return 'no session';
  return session.issueNumber ? `session on issue ${session.issueNumber}` : 'session under way';
}

let told = '';

function tellStatus() {
  const { up, init } = connection.status.now;
  const { active, muted } = app.session.observer.now;
  const parts = [connected()];
  if (init) parts.push(aboutSession());
  if (init && active && muted) parts.push('nudges muted');
  if (costToday !== null) parts.push(`$${costToday.toFixed(2)} today`);
  if (init?.claudeScripted) parts.push('scripted Claude');
  const text = parts.join(', ');
  // It is read aloud whenever it changes, so it is touched only then.
  if (text === told) return;
  told = text;
  fill(status, el('span', { class: up ? 'light good' : 'light bad', 'aria-hidden': 'true' }), el('span', {}, text));
  status.title = init?.claudeScripted ? 'A script answers in place of Claude, as with scripts/run --demo. Nothing costs anything.' : '';
}

connection.status.watch(tellStatus);
app.session.active.watch(tellStatus);
app.session.observer.watch(tellStatus);
window.addEventListener('hashchange', route);
main.append(missing);
connection.start();
route();
// Work hears what the daemon says from the beginning, whichever view is shown: files, tree and unsaved texts are told once.
viewAt('work').then(() => connection.begin());
window.setTimeout(readAhead, READ_AHEAD_MS);
setInterval(() => document.hidden || readCost(), COST_EVERY_MS);
for (const type of /** @type {const} */ (['connection:init', 'explain:response', 'review:response', 'coaching:plan_ready', 'session:completed'])) connection.on(type, () => void readCost());
