// view_guards.js - the Guards view: every guard machine with its state, what it waits for and its countdown, and the events of
// one of them with a scrubber.
import { button, el, fill, freshId, region, setText } from './dom.js';
import { clock, countdown, duration, instant, moment, title } from './format.js';

/**
 * @typedef {import('../../../../proto/docs/paige').GuardKind} Kind
 * @typedef {import('../../../../proto/docs/paige').GuardInfo} Info
 * @typedef {import('../../../../proto/docs/paige').GuardStreamEvent} Step
 * @typedef {import('../../../../proto/docs/paige').SessionGuardView} SessionGuard
 * @typedef {import('../../../../proto/docs/paige').BreakloopView} Breakloop
 * @typedef {import('../../../../proto/docs/paige').InterviewView} Interview
 * @typedef {import('../../../../proto/docs/paige').IdleView} Idle
 * @typedef {{kind: Kind, info: Info}} Machine
 * @typedef {[string, string | Node | null]} Fact a name and what it is
 */

const TICK_MS = 500;
const STEPS_MAX = 5000;
const EFFECTS_MAX = 20;
const PLAY_MS = 600;
/** Machines that are listed; the newest of each kind. */
const LISTED_MAX = 200;

const kinds = /** @type {Record<Kind, string>} */ ({ 'session-guard': 'Session guard', breakloop: 'BreakLoop', interview: 'Interview', idle: 'Idle guard' });

/**
 * A text that counts down to a time.
 * @param {number | null | undefined} end Unix milliseconds
 */
function until(end) {
  return end ? el('span', { class: 'number count', 'data-until': end }, countdown(end - Date.now())) : null;
}

/** @param {number | null | undefined} at */
function when(at) {
  return at ? moment(at) : 'not yet';
}

/** @param {boolean} value */
function yes(value) {
  return value ? 'yes' : 'no';
}

/** @param {SessionGuard} s @returns {Node[]} */
function sessionGuard(s) {
  const running = s.phase === 'background' && s.startedAtMs !== null;
  const left = running ? until(/** @type {number} */ (s.startedAtMs) + s.timeboxMs) : el('span', { class: 'number' }, countdown(s.phase === 'background' ? s.timeboxMs : 0));
  const traits = Object.entries(s.traits).map(([name, trait]) => el('tr', {}, el('th', { scope: 'row' }, title(name)), el('td', {}, el('meter', { min: 0, max: 1, high: trait.tau, value: trait.conf, 'aria-label': `Confidence in ${name}` }), ` ${trait.conf.toFixed(2)} of ${trait.tau.toFixed(2)}`), el('td', { class: 'number' }, trait.n), el('td', { class: 'number' }, trait.S.toFixed(2))));
  const pillars = s.pillars ? Object.entries(s.pillars).map(([name, score]) => el('tr', {}, el('th', { scope: 'row' }, title(name)), el('td', { class: 'number' }, score), el('td', { class: 'wide' }, s.rationales?.[/** @type {'reasoning'} */ (name)] ?? ''))) : [];
  return [
    facts([['Phase', title(s.phase)], ['Time left', left], ['zeroRuns', String(s.zeroRuns)], ['projectsUsed', String(s.projectsUsed)], ['Gate', s.stopCheck ? 'open' : 'closed'], ['Gate reason', s.reason ? `${title(s.reason)}${s.reasons.length > 1 ? ` (${s.reasons.join(', ')})` : ''}` : 'none yet'], ['Speaking', s.aiSpeaking ? 'the coach' : s.userSpeaking ? 'the candidate' : 'nobody'], ['Answers being scored', String(s.scoring)], ['Invitations to code too early', String(s.violations)]]),
    table('Traits', ['Trait', 'Confidence against threshold', 'Samples', 'Mean'], traits),
    pillars.length ? table('Latest pillars', ['Pillar', 'Score', 'Rationale'], pillars) : el('p', { class: 'empty' }, 'No answer has been scored yet.'),
  ];
}

/** @param {Breakloop} s @returns {Node[]} */
function breakloop(s) {
  const apps = Object.entries(s.apps).map(([name, any]) => {
    const app = /** @type {Record<string, any>} */ (any);
    const end = app.quickTaskUntil ?? app.intentionUntil ?? app.activityUntil ?? app.suppressedUntil;
    return el('tr', {}, el('th', { scope: 'row' }, name), el('td', {}, title(String(app.phase))), el('td', {}, app.step ? title(String(app.step)) : 'none'), el('td', {}, until(end) ?? 'none'));
  });
  return [facts([['In front', s.foreground ?? 'nothing'], ['Quick tasks left', `${s.remaining} of ${s.limit}`], ['Next refill', until(s.windowEnd)], ['Window', `${s.windowHours} h, since ${moment(s.windowStart)} (${s.timezone})`], ['Length of a quick task', duration(s.quickTaskMs)]]), table('Apps', ['App', 'State', 'Screen', 'Ends in'], apps)];
}

/** @param {Interview} s @returns {Node[]} */
function interview(s) {
  const sections = s.memory_state.sections.map((section) => el('tr', {}, el('th', { scope: 'row' }, title(section.section_id)), el('td', {}, section.exit_reason ? `ended: ${title(section.exit_reason)}` : 'running'), el('td', {}, Object.entries(section.coverage_flags).map(([name, level]) => `${title(name)}: ${level}`).join(', ') || 'nothing yet')));
  return [facts([['Status', title(s.status)], ['Section', s.current_section_id ? title(s.current_section_id) : 'none'], ['Where in it', s.section_state ? title(s.section_state.replace('SECTION_', '')) : 'nowhere'], ['Section ends in', until(s.section_deadline) ?? 'not running'], ['Follow-up questions left', String(s.followup_budget_remaining)], ['Being judged', yes(s.evaluating)], ['To come', s.ui.upcoming_sections.join(', ') || 'nothing'], ['Goal', s.ui.section_goal_text || 'none']]), sections.length ? table('Sections', ['Section', 'State', 'Coverage'], sections) : el('p', { class: 'empty' }, 'No section has begun.')];
}

/** @param {Idle} s @returns {Node[]} */
function idle(s) {
  const verdict = s.ended ? `to be ended: ${s.ended}` : s.clients > 0 ? 'stays: clients are connected' : s.guardWasDeferred ? 'stays: work is under way' : 'waits for the next check';
  return [facts([['Verdict', verdict], ['Next check', until(s.nextCheck) ?? 'none is due'], ['Clients', String(s.clients)], ['Turn in progress', yes(s.turnInProgress)], ['Prompts without a result', String(s.pendingPrompts)], ['Last output', when(s.lastOutputTime)], ['Without clients since', s.idleStart ? moment(s.idleStart) : 'clients are connected, or none came yet']])];
}

const drawers = /** @type {Record<Kind, (state: any) => Node[]>} */ ({ 'session-guard': sessionGuard, breakloop, interview, idle });

/** @param {Fact[]} list */
function facts(list) {
  return el('dl', { class: 'facts-list' }, list.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}

/** @param {string} name @param {string[]} heads @param {Node[]} rows */
function table(name, heads, rows) {
  return el('div', { class: 'scrolls', tabindex: '0', role: 'group', 'aria-label': name }, el('table', {}, el('caption', {}, name), el('thead', {}, el('tr', {}, heads.map((head) => el('th', { scope: 'col' }, head)))), el('tbody', {}, rows)));
}

/**
 * The events of a stream, one at a time.
 * @param {import('./connection.js').Connection} connection
 */
function scrubber(connection) {
  const range = el('input', { id: freshId('step'), type: 'range', min: '1', max: '1', value: '1', oninput: () => show() });
  const place = el('p', { class: 'number' });
  const what = el('h3');
  const data = el('pre', { tabindex: '0', 'aria-label': 'What the event says' });
  const verdict = el('p', { 'aria-live': 'polite' });
  const play = button('Play', () => (timer ? stop() : start()));
  const root = region('Events', { class: 'card' });
  let timer = 0;
  /** @type {Step[]} */
  let steps = [];
  let shown = { kind: /** @type {Kind} */ ('idle'), id: '' };
  let busy = false;

  const show = () => {
    const step = steps[Number(range.value) - 1];
    if (!step) return;
    setText(place, `Event ${range.value} of ${steps.length}, ${instant(step.at)}, by ${words(step.actor)}`);
    setText(what, title(step.type));
    setText(data, JSON.stringify(step.payload, null, 2));
    range.setAttribute('aria-valuetext', `${range.value}: ${title(step.type)}`);
  };
  /** @param {number} by */
  const move = (by) => {
    range.value = String(Number(range.value) + by);
    show();
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    setText(play, 'Play');
  };
  // However long the pause between two events was: what nobody does is not replayed.
  const start = () => {
    setText(play, 'Stop');
    if (Number(range.value) >= steps.length) range.value = '1';
    timer = window.setInterval(() => {
      move(1);
      if (Number(range.value) >= steps.length) stop();
    }, PLAY_MS);
  };
  const check = async () => {
    try {
      const { payload } = await connection.ask('guard:replay', shown, ['guard:replayed'], { ms: 60000 });
      setText(verdict, payload.ok ? `Replayed ${payload.rows} rows: every one came out as it is stored.` : `The stream does not agree: ${payload.problem ?? 'no reason was given'}`);
    } catch (error) {
      setText(verdict, error instanceof Error ? error.message : String(error));
    }
  };
  fill(root, el('h2', {}, 'Events'), el('label', { for: range.id, class: 'unseen' }, 'Event'), range, el('div', { class: 'row' }, button('Previous', () => move(-1)), button('Next', () => move(1)), play, button('Check the stream', check)), place, what, data, verdict);

  /**
   * Reads what is new of a stream.
   * @param {Kind} kind
   * @param {string} id
   */
  const read = async (kind, id) => {
    if (shown.kind !== kind || shown.id !== id) {
      stop();
      steps = [];
      shown = { kind, id };
      setText(verdict, '');
    } else if (busy) return;
    busy = true;
    const mine = shown;
    const atEnd = Number(range.value) >= steps.length;
    try {
      for (let more = true; more && steps.length < STEPS_MAX; ) {
        const { payload } = await connection.ask('guard:events', { kind, id, since: steps[steps.length - 1]?.seq ?? 0 }, ['guard:stream']);
        if (mine !== shown) return;
        steps.push(...payload.events);
        more = payload.events.length > 0;
      }
    } catch {
      // Read again with the next change.
    }
    busy = false;
    range.max = String(Math.max(1, steps.length));
    if (atEnd && !timer) range.value = range.max;
    show();
  };
  return { root, read };
}

/** @param {string} actor */
function words(actor) {
  return actor.replace(/_/g, ' ');
}

/** @param {import('./main.js').App} app @returns {import('./main.js').View} */
export function guardsView({ connection }) {
  /** @type {Map<string, Machine>} */
  const machines = new Map();
  /** @type {Map<string, unknown>} */
  const states = new Map();
  /** @type {Map<string, {at: number, type: string}[]>} */
  const effects = new Map();
  const body = el('tbody');
  const empty = el('p', { class: 'empty' }, 'There is no guard machine. A program makes one by HTTP: ', el('code', {}, 'POST /guards/session-guard'), '. Agents get an idle guard by themselves.');
  const list = el('div', { class: 'scrolls', tabindex: '0', role: 'group', 'aria-label': 'All machines' }, el('table', {}, el('thead', {}, el('tr', {}, ['Kind', 'Machine', 'Last event', 'Next deadline'].map((name) => el('th', { scope: 'col' }, name)))), body));
  const name = el('h2');
  const inside = el('div');
  const lately = el('ul', { class: 'effects' });
  const nothing = el('p', { class: 'empty' }, 'None since this page was opened.');
  const events = scrubber(connection);
  const detail = el('div', { class: 'guard' }, el('section', { class: 'card', 'aria-label': 'State' }, name, inside), el('section', { class: 'card', 'aria-label': 'Effects' }, el('h2', {}, 'Last effects'), nothing, lately), events.root);
  const root = el('div', { class: 'page' }, el('h1', {}, 'Guards'), region('Guards', { class: 'card' }, empty, list), detail);
  let chosen = '';
  let seen = false;

  const drawList = () => {
    const shown = [...machines.values()].sort((a, b) => b.info.changedAt - a.info.changedAt).slice(0, LISTED_MAX);
    fill(body, shown.map(({ kind, info }) => el('tr', { class: `${kind}/${info.id}` === chosen ? 'chosen' : null }, el('td', {}, kinds[kind]), el('th', { scope: 'row' }, el('a', { href: `#/guards/${kind}/${encodeURIComponent(info.id)}`, 'aria-current': `${kind}/${info.id}` === chosen ? 'true' : null }, info.id)), el('td', { class: 'number' }, `number ${info.cursor}, ${moment(info.changedAt)}`), el('td', {}, until(info.nextDeadline) ?? 'none'))));
    empty.hidden = shown.length > 0;
    list.hidden = !empty.hidden;
  };
  const drawState = () => {
    const machine = machines.get(chosen);
    const state = states.get(chosen);
    detail.hidden = !machine;
    if (!machine) return;
    setText(name, `${kinds[machine.kind]}, ${machine.info.id}`);
    fill(inside, state ? drawers[machine.kind](state) : el('p', { class: 'empty' }, 'The state is being read.'));
    const said = effects.get(chosen) ?? [];
    nothing.hidden = said.length > 0;
    fill(lately, said.map(({ at, type }) => el('li', {}, el('time', {}, clock(at)), ' ', title(type))));
  };
  const readList = async () => {
    for (const kind of /** @type {Kind[]} */ (Object.keys(kinds))) {
      try {
        const { payload } = await connection.ask('guard:list', { kind }, ['guard:machines']);
        for (const info of payload.instances) machines.set(`${kind}/${info.id}`, { kind, info });
      } catch {
        // Read again with the next connection or machine.
      }
    }
    drawList();
    choose();
  };
  const choose = () => {
    const machine = machines.get(chosen);
    drawState();
    if (!machine) return;
    connection.tell('guard:subscribe', { kind: machine.kind, id: machine.info.id });
    events.read(machine.kind, machine.info.id);
  };
  const begin = () => {
    if (!seen || !connection.status.now.up) return;
    connection.tell('guard:follow', { follow: true });
    readList();
  };
  let late = 0;
  connection.on('connection:init', begin);
  connection.on('guard:state', ({ payload: { kind, id, cursor, state } }) => {
    const key = `${kind}/${id}`;
    const machine = machines.get(key);
    if (machine && key === chosen) states.set(key, state);
    if (machine && key === chosen && machine.info.cursor !== cursor) events.read(kind, id);
    if (machine) machine.info = { ...machine.info, changedAt: machine.info.cursor === cursor ? machine.info.changedAt : Date.now(), cursor };
    if (key === chosen) drawState();
    // The list has the deadlines; it is read once for all that happens in a second.
    if (!late) late = window.setTimeout(() => ((late = 0), refresh()), 1000);
  });
  const refresh = async () => {
    const before = chosen;
    await readDeadlines();
    drawList();
    if (before !== chosen || !machines.has(chosen)) choose();
  };
  const readDeadlines = async () => {
    for (const kind of /** @type {Kind[]} */ (Object.keys(kinds))) {
      const answer = await connection.ask('guard:list', { kind }, ['guard:machines']).catch(() => null);
      for (const info of answer?.payload.instances ?? []) machines.set(`${kind}/${info.id}`, { kind, info });
    }
  };
  connection.on('guard:effect', ({ payload: { kind, id, effect } }) => {
    const key = `${kind}/${id}`;
    if (key !== chosen) return;
    effects.set(key, [{ at: Date.now(), type: String(effect.type ?? 'effect') }, ...(effects.get(key) ?? [])].slice(0, EFFECTS_MAX));
    drawState();
  });
  setInterval(() => {
    if (root.hidden) return;
    for (const node of root.querySelectorAll('[data-until]')) setText(node, countdown(Number(node.getAttribute('data-until')) - Date.now()));
  }, TICK_MS);
  drawList();
  drawState();
  return {
    root,
    show([kind, id]) {
      chosen = kind && id ? `${kind}/${id}` : '';
      if (seen) {
        drawList();
        choose();
      }
      if (seen) return;
      seen = true;
      begin();
    },
    hide() {},
    title: () => (chosen ? `${chosen}, Guards` : 'Guards'),
  };
}
