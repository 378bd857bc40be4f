// guard_states.js - the state of a guard machine, kind by kind, as whoever watches it needs it.
import { el } from './dom.js';
import { countdown, duration, moment, title, words } from './format.js';
import { badge, facts, number, table, until } from './parts.js';

/**
 * @typedef {import('../../../../proto/docs/paige').GuardKind} Kind
 * @typedef {import('../../../../proto/docs/paige').SessionGuardView} SessionGuard
 * @typedef {import('../../../../proto/docs/paige').BreakloopView} Breakloop
 * @typedef {import('../../../../proto/docs/paige').InterviewView} Interview
 * @typedef {import('../../../../proto/docs/paige').IdleView} Idle
 * @typedef {import('./parts.js').Fact} Fact
 */

/** A quota of at most so many is drawn as that many dots. */
const DOTS_MAX = 12;

export const kinds = /** @type {Record<Kind, string>} */ ({ 'session-guard': 'Session guard', breakloop: 'BreakLoop', interview: 'Interview', idle: 'Idle guard' });

const reasons = /** @type {Record<string, string>} */ ({ timebox: 'the time was over', projects_cap: 'enough projects were told', gate: 'the traits are known well enough' });
const levels = /** @type {Record<string, 'good' | 'warn' | 'plain'>} */ ({ covered: 'good', partially_covered: 'warn', not_covered: 'plain' });
const exits = /** @type {Record<string, string>} */ ({ time_expired: 'The time was over', coverage_satisfied: 'All was covered', candidate_done: 'The candidate was done', system_error: 'A fault' });

/** @param {number | null | undefined} at */
function when(at) {
  return at ? moment(at) : 'not yet';
}

/** @param {boolean} value */
function yes(value) {
  return value ? 'yes' : 'no';
}

/** @param {SessionGuard} s */
function timeLeft(s) {
  if (s.phase !== 'background') return 'over';
  if (s.startedAtMs === null) return el('span', { class: 'number count' }, countdown(s.timeboxMs, 'minutes'));
  return until(s.startedAtMs + s.timeboxMs, 'minutes');
}

/**
 * All that its debug panel shows (SG-FR-005): countdown, zeroRuns, projectsUsed, confidence against tau, the latest pillars with
 * rationales, the reason of the gate where there is one.
 * @param {SessionGuard} s
 * @returns {Node[]}
 */
function sessionGuard(s) {
  /** @type {Fact[]} */
  const list = [['Phase', title(s.phase)], ['Countdown', timeLeft(s)], ['zeroRuns', String(s.zeroRuns)], ['projectsUsed', String(s.projectsUsed)], ['Gate', s.stopCheck ? badge('good', 'Open') : badge('plain', 'Closed')]];
  if (s.reason) list.push(['Gate reason', `${title(s.reason)}: ${reasons[s.reason] ?? 'the coding phase began'}${s.reasons.length > 1 ? ` (also held: ${s.reasons.filter((one) => one !== s.reason).map(words).join(', ')})` : ''}`]);
  list.push(['Speaking', s.aiSpeaking ? 'the coach' : s.userSpeaking ? 'the candidate' : 'nobody'], ['Answers being scored', String(s.scoring)], ['Invitations to code too early', String(s.violations)]);
  const traits = Object.entries(s.traits).map(([name, trait]) => el('tr', {}, el('th', { scope: 'row' }, title(name)), el('td', {}, el('meter', { min: 0, max: 1, low: trait.tau, high: trait.tau, optimum: 1, value: trait.conf, 'aria-label': `Confidence in ${name}` }), ` ${trait.conf.toFixed(2)} of ${trait.tau.toFixed(2)} `, trait.conf >= trait.tau ? badge('good', 'Reached') : badge('plain', 'Not yet')), number(String(trait.n)), number(trait.W.toFixed(2)), number(trait.S.toFixed(2))));
  const pillars = s.pillars ? Object.entries(s.pillars).map(([name, score]) => el('tr', {}, el('th', { scope: 'row' }, title(name)), number(`${score} of 100`), el('td', { class: 'wide' }, s.rationales?.[/** @type {'reasoning'} */ (name)] || 'no rationale was given'))) : [];
  return [facts(list), table('Traits', ['Trait', 'Confidence against threshold (conf, τ)', '#Samples', '#Evidence', '#Mean'], traits, { caption: true }), pillars.length ? table('Latest pillars', ['Pillar', '#Score', 'Rationale'], pillars, { caption: true }) : el('p', { class: 'empty' }, 'No answer has been scored yet.')];
}

/** @param {number} left @param {number} limit */
function quota(left, limit) {
  const dots = limit <= DOTS_MAX ? Array.from({ length: limit }, (_, i) => el('span', { class: i < left ? 'dot full' : 'dot' })) : [];
  return el('span', {}, `${left} of ${limit} `, el('span', { class: 'dots', 'aria-hidden': 'true' }, dots));
}

/** @param {Breakloop} s @returns {Node[]} */
function breakloop(s) {
  const apps = Object.entries(s.apps).map(([name, any]) => {
    const app = /** @type {Record<string, any>} */ (any);
    const end = app.quickTaskUntil ?? app.intentionUntil ?? app.activityUntil ?? app.suppressedUntil;
    return el('tr', {}, el('th', { scope: 'row' }, name), el('td', {}, title(String(app.phase)), s.foreground === name ? [' ', badge('info', 'In front')] : ''), el('td', {}, app.step ? title(String(app.step)) : 'none', app.preserved ? ', kept for the return' : ''), el('td', { class: 'number' }, until(end) ?? 'no end'));
  });
  return [facts([['In front', s.foreground ?? 'nothing'], ['Quick tasks left', quota(s.remaining, s.limit)], ['Next refill', until(s.windowEnd)], ['Refill at', moment(s.windowEnd)], ['Window', `${s.windowHours} h, since ${moment(s.windowStart)} (${s.timezone})`], ['Length of a quick task', duration(s.quickTaskMs)], ['Peace after quitting', duration(s.quitSuppressionMs)]]), apps.length ? table('Apps', ['App', 'State', 'Screen', '#Ends in'], apps, { caption: true }) : el('p', { class: 'empty' }, 'No app is watched.')];
}

/** @param {Record<string, unknown>} flags level by dimension */
function coverage(flags) {
  const list = Object.entries(flags);
  return list.length ? list.map(([name, level]) => el('span', { class: `badge ${levels[String(level)] ?? 'plain'}` }, `${title(name)}: ${title(String(level)).toLowerCase()}`)) : ['nothing yet'];
}

/** @param {Interview} s @returns {Node[]} */
function interview(s) {
  /** @type {Fact[]} */
  const list = [['Status', title(s.status)], ['Section', s.current_section_id ? title(s.current_section_id) : 'none'], ['Section ends in', until(s.section_deadline) ?? 'not running'], ['Where in it', s.section_state ? title(s.section_state.replace('SECTION_', '')) : 'nowhere'], ['Follow-up questions left', String(s.followup_budget_remaining)], ['Being judged', yes(s.evaluating)], ['Candidate', s.candidate_id ?? 'not named'], ['May now', s.ui.allowed_actions.map(title).join(', ') || 'nothing'], ['To come', s.ui.upcoming_sections.map(title).join(', ') || 'nothing']];
  const sections = s.memory_state.sections.map((section) => {
    const runs = section.section_id === s.current_section_id && !section.exit_reason;
    return el('tr', { class: runs ? 'chosen' : null }, el('th', { scope: 'row' }, title(section.section_id)), el('td', {}, section.exit_reason ? exits[section.exit_reason] ?? title(section.exit_reason) : badge('good', 'Running')), el('td', { class: 'number' }, runs ? until(s.section_deadline) : 'ended'), el('td', { class: 'wide' }, el('span', { class: 'badges' }, coverage(runs ? { ...section.coverage_flags, ...s.coverage_flags } : section.coverage_flags))));
  });
  const goal = s.ui.section_goal_text ? [el('p', { class: 'aside' }, `Goal: ${s.ui.section_goal_text}`)] : [];
  return [facts(list), ...goal, sections.length ? table('Sections', ['Section', 'State', '#Deadline', 'Coverage by dimension'], sections, { caption: true }) : el('p', { class: 'empty' }, 'No section has begun.')];
}

/** @param {Idle} s */
function verdict(s) {
  if (s.ended) return el('span', {}, badge('bad', 'To be ended'), ` ${title(s.ended)}`);
  if (s.clients > 0) return el('span', {}, badge('good', 'Stays'), ' clients are connected');
  if (s.guardWasDeferred) return el('span', {}, badge('good', 'Stays'), ' work is under way');
  return el('span', {}, badge('plain', 'Waits'), s.nextCheck ? ' for the next check' : ' for its first client');
}

/** @param {Idle} s @returns {Node[]} */
function idle(s) {
  return [facts([['Verdict', verdict(s)], ['Next check in', until(s.nextCheck) ?? 'none is due'], ['Clients', String(s.clients)], ['Turn in progress', yes(s.turnInProgress)], ['Prompts without a result', String(s.pendingPrompts)], ['Last output', when(s.lastOutputTime)], ['Without clients since', s.idleStart ? moment(s.idleStart) : 'clients are connected, or none came yet']])];
}

const drawers = /** @type {Record<Kind, (state: any) => Node[]>} */ ({ 'session-guard': sessionGuard, breakloop, interview, idle });

/**
 * @param {Kind} kind
 * @param {unknown} state of that kind
 */
export function drawState(kind, state) {
  return drawers[kind](state);
}
