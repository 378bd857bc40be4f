// session.js - the coaching session as the page knows it: what it is about, its phases, what was said, what the Observer does.
import { count, duration } from './format.js';
import { Value } from './store.js';

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {import('./connection.js').ServerPayloads} ServerPayloads
 * @typedef {import('../../../../proto/docs/paige').SessionState} SessionState
 * @typedef {import('../../../../proto/docs/paige').MessageAnchor} MessageAnchor
 * @typedef {{id: string, issueNumber: number | null, issueTitle: string | null, startedAt: string | null}} Active
 * @typedef {{number: number, title: string, description: string, status: string}} Phase
 * @typedef {{key: number, at: number, kind: string, title: string, text: string, facts: string[], anchor?: MessageAnchor, signal?: import('../../../../proto/docs/paige').NudgeSignal}} Entry something said to the learner; `signal`: of a nudge
 */

/** Older ones leave the page. */
const ENTRIES_MAX = 300;

/** What the Observer means, in a sentence. */
const signals = /** @type {Record<string, string>} */ ({
  wrong_file: 'You may be in another file than the phase is about.',
  scope_drift: 'The work seems to have left what the phase asks for.',
  idle: 'It has been quiet for a while. A hint may help.',
  phase_complete: 'This phase looks complete.',
  edit_loop: 'The same lines were changed again and again.',
});

export class Session {
  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    this.active = new Value(/** @type {Active | null} */ (null));
    this.phases = new Value(/** @type {Phase[]} */ ([]));
    this.entries = new Value(/** @type {Entry[]} */ ([]));
    this.observer = new Value({ active: false, muted: false });
    this.hintLevel = new Value(1);
    this.progress = new Value(/** @type {{message: string, step: number, total: number} | null} */ (null));
    this.restored = new Value(/** @type {SessionState | null} */ (null));
    this.keys = 0;
    this.listen();
  }

  listen() {
    const { connection } = this;
    connection.on('connection:init', ({ payload }) => this.greeted(payload.sessionId));
    connection.on('session:started', ({ payload }) => this.started(payload));
    connection.on('session:resumed', ({ payload }) => this.resumed(payload.restoredState));
    connection.on('session:ended', ({ payload: { summary } }) => this.ended('Session ended', `${count(summary.phasesCompleted, 'phase')} ${summary.phasesCompleted === 1 ? 'was' : 'were'} completed in ${duration(summary.durationMs)}.`, []));
    connection.on('session:completed', ({ payload }) => this.ended('Session wrapped up', 'What came out of it is in Progress.', [count(payload.knowledgeGaps, 'knowledge gap'), count(payload.kataSpecs, 'kata'), `${count(payload.dreyfusUpdates, 'skill')} assessed`, `memories kept: ${payload.memoriesStored}`]));
    connection.on('coaching:plan_ready', ({ payload }) => this.planned(payload));
    connection.on('coaching:phase_update', ({ payload }) => this.moved(payload));
    connection.on('coaching:message', ({ payload }) => this.say(payload.type, 'Paige', payload.message, [], payload.anchor));
    connection.on('coaching:issue_context', ({ payload }) => this.say('info', payload.number ? `Issue ${payload.number}: ${payload.title}` : payload.title, payload.summary));
    connection.on('coaching:progress', ({ payload }) => this.progress.set(payload.step >= payload.total ? null : payload));
    connection.on('observer:status', ({ payload }) => this.observer.set({ active: payload.active, muted: payload.muted }));
    connection.on('observer:nudge', ({ payload }) => this.nudged(payload));
    connection.on('explain:response', ({ payload }) => this.explained(payload));
    connection.on('explain:error', ({ payload }) => this.say('error', 'No explanation', payload.error));
  }

  /** @param {string | null} id */
  greeted(id) {
    if (this.active.now?.id === id) return;
    this.phases.set([]);
    this.active.set(id ? { id, issueNumber: null, issueTitle: null, startedAt: null } : null);
  }

  /** @param {ServerPayloads['session:started']} payload */
  started({ sessionId, issueContext, hintLevel }) {
    this.phases.set([]);
    this.hintLevel.set(hintLevel);
    this.active.set({ id: sessionId, issueNumber: issueContext.number, issueTitle: issueContext.title, startedAt: new Date().toISOString() });
  }

  /** @param {SessionState} state */
  resumed(state) {
    const { session, plan, phase_text: text } = state;
    if (session) {
      const levels = ['none', 'file', 'region', 'line'];
      this.active.set({ id: session.id, issueNumber: session.issueNumber ?? null, issueTitle: session.issueTitle ?? null, startedAt: session.startedAt });
      if (session.hintLevel) this.hintLevel.set(levels.indexOf(session.hintLevel));
    }
    if (plan) this.phases.set(plan.phases.map((phase) => ({ ...phase, description: text?.number === phase.number ? text.description : '' })));
    this.restored.set(state);
  }

  /** @param {string} title @param {string} text @param {string[]} facts */
  ended(title, text, facts) {
    this.active.set(null);
    this.phases.set([]);
    this.progress.set(null);
    this.say('success', title, text, facts);
  }

  /** @param {ServerPayloads['coaching:plan_ready']} plan */
  planned({ phases, memoryConnection, estimatedDifficulty }) {
    this.progress.set(null);
    this.phases.set(phases.map((phase) => ({ ...phase, status: phase.status ?? 'pending' })));
    this.say('info', 'The plan is ready', memoryConnection ?? 'Begin with the first phase.', [count(phases.length, 'phase'), estimatedDifficulty]);
  }

  /** @param {ServerPayloads['coaching:phase_update']} payload */
  moved({ number, title, description, status }) {
    const changed = { number, title, description, status };
    this.phases.update((phases) => (phases.some((phase) => phase.number === number) ? phases.map((phase) => (phase.number === number ? changed : phase)) : [...phases, changed].sort((a, b) => a.number - b.number)));
  }

  /** @param {ServerPayloads['observer:nudge']} nudge */
  nudged({ signal, confidence, context }) {
    const facts = [`${Math.round(confidence * 100)} % sure`];
    if (context.current_file) facts.push(`in ${context.current_file}`);
    if (context.time_in_file) facts.push(`for ${context.time_in_file}`);
    if (context.expected_file) facts.push(`the phase is about ${context.expected_file}`);
    this.say('nudge', 'The Observer', signals[signal] ?? signal, facts, undefined, signal);
  }

  /** @param {ServerPayloads['explain:response']} payload */
  explained({ path, explanation, keyConcepts, analogy, phaseConnection }) {
    const text = [explanation, analogy, phaseConnection].filter(Boolean).join('\n\n');
    this.say('info', `Explanation, ${path}`, text, keyConcepts);
  }

  /**
   * @param {string} kind info, hint, success, warning, error or nudge
   * @param {string} title
   * @param {string} text
   * @param {string[]} [facts]
   * @param {MessageAnchor} [anchor]
   * @param {Entry['signal']} [signal]
   */
  say(kind, title, text, facts = [], anchor = undefined, signal = undefined) {
    this.keys += 1;
    const entry = { key: this.keys, at: Date.now(), kind, title, text, facts, anchor, signal };
    this.entries.update((entries) => [...entries, entry].slice(-ENTRIES_MAX));
  }

  /** @param {number} key */
  dismiss(key) {
    this.entries.update((entries) => entries.filter((entry) => entry.key !== key));
  }
}
