// coach.js - the column of the coach: the session, its phases, and what was said.
import { button, el, fill, freshId, region, setText, written } from './dom.js';
import { clock, lately, title } from './format.js';

/**
 * @typedef {import('./session.js').Entry} Entry
 * @typedef {import('./session.js').Phase} Phase
 * @typedef {import('../../../../proto/docs/paige').MessageAnchor} MessageAnchor
 * @typedef {{problem(text: string): void, go(anchor: MessageAnchor): void}} Host `problem`: tells what went wrong; `go`: shows a place
 */

const levels = ['None', 'File', 'Region', 'Line'];
const kinds = /** @type {Record<string, string>} */ ({ info: 'Note', hint: 'Hint', success: 'Done', warning: 'Warning', error: 'Problem', nudge: 'Nudge' });
const statuses = /** @type {Record<string, string>} */ ({ pending: 'to come', active: 'current', complete: 'complete' });

/** @param {import('./main.js').App} app @param {{problem(text: string): void}} host */
function sessionCard({ connection, session }, host) {
  const issue = el('input', { id: freshId('issue'), type: 'number', min: '1', max: '1000000000', placeholder: 'none', inputmode: 'numeric' });
  const start = button('Start session', () => ask('session:start', { issueNumber: issue.value ? Number(issue.value) : null }, ['session:started']), { class: 'primary' });
  const end = button('End session', () => ask('session:end', {}, ['session:ended']));
  const mute = button('Mute', () => connection.tell('observer:mute', { muted: !session.observer.now.muted }), { 'aria-pressed': 'false' });
  const level = el('select', { id: freshId('level'), onchange: () => connection.tell('hints:level_change', { level: /** @type {0|1|2|3} */ (Number(level.value)), previousLevel: /** @type {0|1|2|3} */ (session.hintLevel.now) }) }, levels.map((name, i) => el('option', { value: i }, name)));
  const name = el('p', { class: 'session-title' });
  const about = el('div', { class: 'session-about' }, name, end);
  const idle = el('div', { class: 'row' }, el('label', { for: issue.id }, 'Issue'), issue, start);
  const busy = el('div', { class: 'row' }, el('label', { for: level.id }, 'Hints'), level, mute);

  /** @type {(type: any, payload: any, answers: any[]) => void} */
  const ask = (type, payload, answers) => {
    connection.ask(type, payload, answers).then(() => host.problem('')).catch((error) => host.problem(error.message));
  };
  session.active.watch((active) => {
    idle.hidden = active !== null;
    busy.hidden = active === null;
    about.hidden = active === null;
    if (!active) return;
    const what = active.issueNumber ? `Issue ${active.issueNumber}${active.issueTitle ? `: ${active.issueTitle}` : ''}` : 'Session without an issue';
    fill(name, what, active.startedAt && el('span', { class: 'since' }, ` since ${lately(active.startedAt)}`));
  });
  session.hintLevel.watch((now) => (level.value = String(now)));
  session.observer.watch(({ muted }) => mute.setAttribute('aria-pressed', String(muted)));
  return region('Session', { class: 'card' }, about, idle, busy);
}

/** @param {Phase} phase */
function step({ number, title: name, description, status }) {
  const current = status === 'active';
  const head = el('span', { class: 'step-head' }, el('span', { class: 'step-name' }, name), ' ', el('span', { class: 'step-status' }, statuses[status] ?? status));
  const body = description ? el('details', { open: current }, el('summary', {}, head), written(description)) : head;
  return el('li', { class: `step ${status}`, 'aria-current': current ? 'step' : null, value: number }, el('span', { class: 'step-number', 'aria-hidden': 'true' }, status === 'complete' ? '✓' : number), body);
}

/** @param {import('./session.js').Session} session */
function phasesCard(session) {
  const list = el('ol', { class: 'steps' });
  const empty = el('p', { class: 'empty' });
  const progress = el('p', { class: 'progress', 'aria-live': 'polite' });
  const draw = () => {
    const phases = session.phases.now;
    fill(list, phases.map(step));
    empty.hidden = phases.length > 0;
    setText(empty, session.active.now ? 'No plan yet. Ask Claude Code to plan the work and to run the coaching pipeline.' : 'A session has phases once Claude has made a plan.');
  };
  session.phases.watch(draw);
  session.active.watch(draw);
  session.progress.watch((now) => {
    progress.hidden = now === null;
    if (now) setText(progress, `${now.message} (step ${now.step} of ${now.total})`);
  });
  return region('Phases', { class: 'card' }, progress, list, empty);
}

/**
 * What the learner may say to a nudge.
 * @param {NonNullable<Entry['signal']>} signal
 * @param {import('./main.js').App} app
 * @param {Host} host
 */
function answers(signal, { connection }, host) {
  const row = el('span', { class: 'row answers', 'aria-live': 'polite' });
  const say = (/** @type {boolean} */ helpful) => {
    if (!connection.tell('observer:nudge_answer', { signal, helpful })) return host.problem('There is no connection to Paige: answer when it is back.');
    fill(row, el('span', { class: 'said' }, helpful ? 'You said: helpful.' : 'You said: not now. It waits longer before the next.'));
  };
  fill(row, button('Helpful', () => say(true), { class: 'small' }), button('Not now', () => say(false), { class: 'small' }));
  return row;
}

/**
 * @param {Entry} entry
 * @param {import('./main.js').App} app
 * @param {Host} host
 */
function bubble({ key, kind, title: name, text, facts, anchor, at, signal }, app, host) {
  const line = anchor?.range?.startLine;
  return el(
    'li',
    { class: `bubble ${kind}` },
    el('div', { class: 'bubble-head' }, el('span', { class: 'kind' }, kinds[kind] ?? title(kind)), el('strong', {}, name), el('time', { datetime: new Date(at).toISOString() }, clock(at))),
    written(text),
    facts.length > 0 && el('ul', { class: 'facts' }, facts.map((fact) => el('li', {}, fact))),
    el('div', { class: 'row end' }, signal && answers(signal, app, host), anchor && button(line ? `${anchor.path}:${line}` : anchor.path, () => host.go(anchor), { class: 'small link' }), button('Dismiss', () => app.session.dismiss(key), { class: 'small' })),
  );
}

/** @param {import('./main.js').App} app @param {Host} host */
function messagesCard(app, host) {
  const { session } = app;
  const list = el('ol', { class: 'bubbles', 'aria-live': 'polite' });
  const empty = el('p', { class: 'empty' }, 'What Claude and the Observer say appears here.');
  /** @type {Map<number, HTMLElement>} */
  const shown = new Map();
  session.entries.watch((entries) => {
    const keys = new Set(entries.map((entry) => entry.key));
    for (const [key, node] of shown) {
      if (keys.has(key)) continue;
      node.remove();
      shown.delete(key);
    }
    for (const entry of entries) {
      if (shown.has(entry.key)) continue;
      const node = bubble(entry, app, host);
      shown.set(entry.key, node);
      list.prepend(node);
    }
    empty.hidden = entries.length > 0;
  });
  return region('Messages', { class: 'card grow' }, list, empty);
}

/**
 * What to do first; the first step works without Claude.
 * @param {import('./main.js').App} app
 * @param {import('./files.js').Files} files
 */
function firstSteps({ session }, files) {
  const command = `claude mcp add --transport http paige ${location.origin}/mcp`;
  const list = el('ol', { class: 'first' });
  const card = region('First steps', { class: 'card first-steps' }, list);
  /** There was a session while this page is open. */
  let begun = false;
  const draw = () => {
    const typed = [...files.open.values()].some((file) => file.dirty);
    const parts = [
      [files.open.size > 0, el('span', {}, el('strong', {}, 'Open a file and type. '), typed ? 'Claude can see this line although you have not saved it.' : 'Pick one from the tree on the left. What you type is kept, and visible to Claude, before you save.')],
      [session.active.now !== null, el('span', {}, el('strong', {}, 'Start a session. '), 'The coach and the log belong to it. An issue number is optional.')],
      [false, el('span', {}, el('strong', {}, 'Connect Claude Code. '), 'In a terminal of this project:', el('code', { class: 'block' }, command.split(' ').flatMap((word, i) => [i > 0 && ' ', el('span', { class: 'word' }, word)])), 'Then ask it to plan your issue and to run the coaching pipeline.')],
    ];
    fill(list, parts.map(([done, text]) => el('li', { class: done ? 'done' : '' }, /** @type {Node} */ (text), Boolean(done) && el('span', { class: 'step-status' }, ' done'))));
    const said = session.entries.now.length > 0;
    begun ||= session.active.now !== null;
    // Who has asked for an explanation has not found the coach yet: the steps make room for what was said, and stay.
    card.hidden = session.phases.now.length > 0 || (said && begun);
    card.classList.toggle('later', said);
  };
  files.changed.watch(draw);
  session.active.watch(draw);
  session.phases.watch(draw);
  session.entries.watch(draw);
  return card;
}

/**
 * @param {import('./main.js').App} app
 * @param {import('./files.js').Files} files
 * @param {Host} host
 */
export function coachColumn(app, files, host) {
  return el('aside', { class: 'coach', 'aria-label': 'Coach' }, sessionCard(app, host), firstSteps(app, files), phasesCard(app.session), messagesCard(app, host));
}
