// main.js - the frame of the page: navigation, status line, and which view is shown. Each view has an address of its own.
import { Connection } from './connection.js';
import { el, fill, setText } from './dom.js';
import { clock } from './format.js';
import { Session } from './session.js';
import { watchFleet } from './fleet.js';
import { activityView } from './view_activity.js';
import { guardsView } from './view_guards.js';
import { progressView } from './view_progress.js';
import { systemView } from './view_system.js';
import { workView } from './view_work.js';

/**
 * @typedef {{connection: Connection, session: Session, fleet: import('./fleet.js').Fleet}} App
 * @typedef {{root: HTMLElement, show(rest: string[]): void, hide(): void, title(): string}} View
 * @typedef {{name: string, path: string, make(app: App): View}} Place
 */

const COST_EVERY_MS = 60000;

/** @type {Place[]} */
const places = [
  { name: 'Work', path: 'work', make: workView },
  { name: 'Progress', path: 'progress', make: progressView },
  { name: 'Guards', path: 'guards', make: guardsView },
  { name: 'Activity', path: 'activity', make: activityView },
  { name: 'System', path: 'system', make: systemView },
];

const main = /** @type {HTMLElement} */ (document.getElementById('main'));
const status = /** @type {HTMLElement} */ (document.getElementById('status'));
const connection = new Connection();
/** @type {App} */
const app = { connection, session: new Session(connection), fleet: watchFleet() };
/** @type {Map<string, View>} */
const views = new Map();
/** @type {View | null} */
let shown = null;

const links = places.map((place) => el('a', { href: `#/${place.path}` }, place.name));
document.getElementById('views')?.append(...links);
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

function route() {
  const [first, ...rest] = address();
  const index = Math.max(0, places.findIndex((place) => place.path === first));
  const { path, make } = places[index];
  let view = views.get(path);
  if (!view) {
    view = make(app);
    views.set(path, view);
    main.append(view.root);
  }
  if (shown !== view) shown?.hide();
  for (const [other, { root }] of views) root.hidden = other !== path;
  links.forEach((link, i) => (i === index ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current')));
  shown = view;
  view.show(rest);
  document.title = `${view.title()} · Paige`;
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
route();
setInterval(() => document.hidden || readCost(), COST_EVERY_MS);
for (const type of /** @type {const} */ (['connection:init', 'explain:response', 'review:response', 'coaching:plan_ready', 'session:completed'])) connection.on(type, () => void readCost());
connection.start();
