// kata.js - a kata to work on: its task, constraints to take on, a box for the solution, what its review says, and the attempts so
// far. What was typed outlives the page, and so does a review that is under way, of which the daemon tells.
import { Refused } from './connection.js';
import { button, el, fill, freshId, setText, written } from './dom.js';
import { count, lately } from './format.js';
import { attemptList } from './kata_attempts.js';
import { badge, reason } from './parts.js';
import { keep, Kept, readKept } from './unsaved.js';

/**
 * @typedef {import('../../../../proto/docs/paige').DashboardKata} Overview
 * @typedef {import('../../../../proto/docs/paige').KataConstraint} Constraint
 * @typedef {import('../../../../proto/docs/paige').PracticeKataLoad} Task
 * @typedef {import('../../../../proto/docs/paige').ReviewResponse} Review
 * @typedef {import('../../../../proto/docs/paige').ReviewError} ReviewError
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {{id: string, code: string, titles: string[]}} Solution what was typed for a kata, and the constraints that were chosen
 */

/** After so long without an answer the daemon is asked whether there is still one to come. */
const REVIEW_MS = 180000;
const LOST = 'Paige waits no longer for this review. If Claude has finished it, it is among your attempts; if not, hand it in again.';
/** More are not drawn. */
const CONSTRAINTS_MAX = 100;
const ROWS_MIN = 8;
const ROWS_MAX = 24;
const SOLUTIONS = 'paige.solutions';
/** Solutions together; a browser gives a page about 5 million characters, of which unsaved texts of files may take 2. */
const SOLUTIONS_MAX = 1000000;

/** Solutions in the browser's store. */
export class Solutions extends Kept {
  constructor() {
    super();
    const list = readKept(SOLUTIONS);
    /** The one that was typed last is the last. */
    this.all = new Map((Array.isArray(list) ? list : []).filter((/** @type {Solution} */ one) => typeof one?.id === 'string' && typeof one.code === 'string' && Array.isArray(one.titles)).map((/** @type {Solution} */ one) => [one.id, one]));
    this.watchLeaving();
  }

  /** @param {Solution} solution */
  set(solution) {
    this.all.delete(solution.id);
    if (solution.code || solution.titles.length) this.all.set(solution.id, solution);
    this.soon();
  }

  put() {
    let left = SOLUTIONS_MAX;
    const kept = [...this.all.values()].reverse().filter(({ code }) => (left -= code.length) >= 0).reverse();
    try {
      keep(SOLUTIONS, kept);
      return left >= 0;
    } catch {
      return this.all.size === 0;
    }
  }
}

/** @param {Review} review */
function reviewed(review) {
  const next = review.followUp ? [review.followUp.reason, review.followUp.constraint].filter(Boolean).join(' ') : '';
  const unlocked = review.unlockedConstraints;
  return el('div', { class: `bubble ${review.passed ? 'success' : 'warning'}` }, el('strong', {}, review.passed ? `Passed, level ${review.level}` : `Not yet, level ${review.level}`), written(review.feedback), next && el('p', { class: 'text' }, `Next: ${next}`), unlocked.length > 0 && el('p', { class: 'text' }, `${count(unlocked.length, 'constraint')} unlocked: ${unlocked.map((constraint) => constraint.title).join(', ')}`));
}

/**
 * A constraint as a switch.
 * @param {Constraint} constraint
 * @param {{on: boolean, locked: boolean, change: (on: boolean) => void}} state
 */
function constraintItem({ title, description, minLevel }, { on, locked, change }) {
  const about = el('p', { class: 'text', id: freshId('about') }, description === title ? '' : description);
  const level = badge('plain', locked ? `Locked until level ${minLevel}` : `From level ${minLevel}`);
  level.id = freshId('from');
  const box = el('input', { type: 'checkbox', role: 'switch', id: freshId('constraint'), checked: on && !locked, disabled: locked, 'aria-describedby': `${about.id} ${level.id}`, onchange: () => change(box.checked) });
  return el('li', { class: 'constraint' }, box, el('div', {}, el('label', { for: box.id }, title), ' ', level, about));
}

/**
 * @param {Connection} connection
 * @param {Solutions} solutions
 * @param {Overview} first
 */
export function kataItem(connection, solutions, first) {
  let kata = first;
  /** @type {Task | null} */
  let task = null;
  let [gone, asked, drawn] = [false, 0, ''];
  /**
   * A review under way: this page has asked for it, or was told of it, or it was under way when the connection was lost.
   * @type {'none' | 'asked' | 'told' | 'lost'}
   */
  let review = 'none';
  let timer = 0;
  const before = solutions.all.get(kata.id);
  const chosen = new Set(before?.titles);
  /** Somebody has typed in the box, who may also want it empty. */
  let touched = before !== undefined && before.code !== '';

  const about = el('span', {});
  const said = el('p', { class: 'aside', role: 'status' });
  const again = button('Ask again', () => read(), { class: 'small' });
  const description = el('div', { class: 'kata-task' });
  const level = el('p', { class: 'aside' });
  const list = el('ul', { class: 'constraints' });
  const constraints = el('fieldset', { class: 'kata-constraints' }, el('legend', {}, 'Constraints to take on'), level, list);
  const code = el('textarea', { id: freshId('solution'), rows: ROWS_MIN, spellcheck: 'false', maxlength: '200000', oninput: () => typed() });
  const send = button('Hand in', () => handIn(), { class: 'primary' });
  const waiting = el('p', { class: 'aside', role: 'status', hidden: true });
  const answer = el('div', { 'aria-live': 'polite' });
  const attempts = attemptList();
  const work = el('div', {}, el('label', { for: code.id }, 'Your solution'), code, el('div', { class: 'row end' }, send));
  const root = el('details', { class: 'kata', ontoggle: () => void (root.open && !task && read()) }, el('summary', {}, el('strong', {}, kata.title), about), el('div', { class: 'row' }, said, again), description, constraints, work, waiting, answer, attempts.root);

  const known = () => task?.constraints.slice(0, CONSTRAINTS_MAX) ?? [];
  // As the store counts it: without any attempt those of level 1 are open.
  const reached = () => Math.max(kata.bestLevel ?? 1, 1);
  const put = (/** @type {string} */ text) => {
    code.value = text;
    code.rows = Math.min(Math.max(text.split('\n').length + 1, ROWS_MIN), ROWS_MAX);
  };
  const own = () => touched && code.value !== '';
  const typed = () => {
    touched = true;
    solutions.set({ id: kata.id, code: code.value, titles: [...chosen] });
  };
  const choose = (/** @type {string} */ title, /** @type {boolean} */ on) => {
    on ? chosen.add(title) : chosen.delete(title);
    solutions.set({ id: kata.id, code: touched ? code.value : '', titles: [...chosen] });
  };

  const drawConstraints = () => {
    const now = JSON.stringify([known(), reached()]);
    // Whoever is on a switch stays there as long as nothing is another.
    if (now === drawn) return;
    drawn = now;
    const more = (task?.constraints.length ?? 0) - CONSTRAINTS_MAX;
    constraints.hidden = known().length === 0;
    setText(level, `Your level in this kata is ${reached()}.${known().some(({ minLevel }) => minLevel > reached()) ? ' A better one unlocks more of them.' : ''}${more > 0 ? ` ${count(more, 'more constraint')} cannot be shown.` : ''}`);
    fill(list, known().map((constraint) => constraintItem(constraint, { on: chosen.has(constraint.title), locked: constraint.minLevel > reached(), change: (on) => choose(constraint.title, on) })));
  };
  const draw = () => {
    setText(about, ` ${kata.topic} (${[kata.attemptsCount > 0 ? count(kata.attemptsCount, 'attempt') : 'not tried yet', kata.bestLevel && `best level ${kata.bestLevel}`, kata.constraintCount > 0 && count(kata.constraintCount, 'constraint')].filter(Boolean).join(', ')})`);
    send.disabled = review === 'asked' || review === 'told' || gone || !task;
    work.hidden = (gone || !task) && !own();
    drawConstraints();
  };
  const say = (/** @type {string} */ text, /** @type {boolean} */ mayAsk) => {
    setText(said, text);
    said.hidden = !text;
    again.hidden = !mayAsk;
    draw();
  };
  const problem = (/** @type {string} */ text) => fill(answer, el('p', { class: 'problem' }, text));
  /** @param {'none' | 'asked' | 'told' | 'lost'} now @param {string} [text] */
  const reviewing = (now, text = '') => {
    review = now;
    clearTimeout(timer);
    if (now === 'told') timer = window.setTimeout(() => read(), REVIEW_MS);
    setText(waiting, text);
    waiting.hidden = !text;
    draw();
  };
  const leave = () => {
    gone = true;
    if (review !== 'asked') reviewing('none');
    say(`This kata is not there any more.${own() ? ' What is in the box stays there until the page is left.' : ''}`, false);
  };

  /** @param {string} [since] of a review that is under way */
  const told = (since) => {
    // The answer to the question of this page comes to it.
    if (review === 'asked') return;
    if (since) {
      if (review === 'lost') fill(answer);
      reviewing('told', `Claude is reviewing what was handed in at ${lately(since)}.`);
    } else if (review !== 'none') {
      reviewing('none');
      problem(LOST);
    }
  };
  const taken = (/** @type {Task} */ now) => {
    gone = false;
    if (now.kata.description !== task?.kata.description) fill(description, written(now.kata.description));
    task = now;
    if (!touched && !code.value) put(now.kata.scaffoldingCode);
    kata = { ...kata, attemptsCount: now.attemptsCount };
    attempts.set(now.attempts, now.attemptsCount);
    told(now.reviewSince);
    say('', false);
  };
  const failed = (/** @type {unknown} */ error) => {
    if (error instanceof Refused && error.code === 'NOT_FOUND') return leave();
    // It is asked again.
    if (review === 'told') reviewing('told', waiting.textContent ?? '');
    if (task) return;
    const { up } = connection.status.now;
    say(up ? reason(error) : 'There is no connection to Paige. The task comes when it is back.', up);
  };
  const read = async () => {
    asked += 1;
    const mine = asked;
    if (!task) say('The task is being read.', false);
    const done = await connection.ask('practice:open_kata', { kataId: kata.id }, ['practice:kata_load']).catch((error) => mine === asked && failed(error));
    if (done && mine === asked) taken(done.payload);
  };

  /** @param {{type: string, payload: Review | ReviewError}} message */
  const show = ({ type, payload }) => {
    reviewing('none');
    type === 'review:response' ? fill(answer, reviewed(/** @type {Review} */ (payload))) : problem(/** @type {ReviewError} */ (payload).error);
  };
  const handIn = async () => {
    if (!code.value.trim()) return problem('The box is empty.');
    const titles = new Set(known().filter((constraint) => constraint.minLevel <= reached() && chosen.has(constraint.title)).map((constraint) => constraint.title));
    fill(answer);
    if (!connection.status.now.up) return problem('There is no connection to Paige.');
    reviewing('asked', 'Claude is reviewing it.');
    try {
      const done = await connection.ask('user:review', { kataId: kata.id, userCode: code.value, activeConstraintTitles: [...titles] }, ['review:response', 'review:error'], { ms: REVIEW_MS });
      if (done.type === 'review:response') counted(/** @type {Review} */ (done.payload));
      show(done);
    } catch (error) {
      // Unless it was refused, an answer may still be to come.
      reviewing(error instanceof Refused ? 'none' : 'lost');
      problem(reason(error));
    }
    if (connection.status.now.up) read();
  };
  const counted = (/** @type {Review} */ { level: now }) => (kata = { ...kata, attemptsCount: kata.attemptsCount + 1, bestLevel: /** @type {Overview['bestLevel']} */ (Math.max(kata.bestLevel ?? 0, now)) });

  put(before?.code ?? '');
  say('', false);
  return {
    root,
    /** It is no longer among the katas. */
    leave,
    /** Something was typed that nobody else has. */
    typed: own,
    /** The connection is back: what is there may be another thing. */
    again: () => void ((root.open || review !== 'none') && read()),
    /** There is no connection: an answer comes at best when it is back. */
    lost() {
      if (review !== 'told') return;
      reviewing('lost');
      problem('The connection to Paige was lost before the answer came.');
    },
    /**
     * A review has ended, asked for by this page, by one before it or by another window.
     * @param {{type: string, payload: Review | ReviewError}} message
     */
    heard(message) {
      if (review === 'asked') return;
      if (message.type === 'review:response') counted(/** @type {Review} */ (message.payload));
      if (review !== 'none') show(message);
      draw();
      if (task) read();
    },
    /** @param {Overview} now */
    set(now) {
      kata = now;
      draw();
    },
  };
}
