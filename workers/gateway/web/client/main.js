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

function tellStatus() {
  const { up, since, init } = connection.status.now;
  const session = app.session.active.now;
  let connected = 'Connected';
  if (!up) connected = init ? `Not connected since ${clock(since)}, trying again` : 'Connecting';
  let about = 'no session';
  if (session) about = session.issueNumber ? `session on issue ${session.issueNumber}` : 'session under way';
  if (up && costToday !== null) about += `, $${costToday.toFixed(2)} today`;
  fill(status, el('span', { class: up ? 'light good' : 'light bad', 'aria-hidden': 'true' }), el('span', {}, up ? `${connected}, ${about}` : connected));
}

connection.status.watch(tellStatus);
app.session.active.watch(tellStatus);
window.addEventListener('hashchange', route);
route();
setInterval(() => document.hidden || readCost(), COST_EVERY_MS);
connection.on('connection:init', () => void readCost());
connection.start();
