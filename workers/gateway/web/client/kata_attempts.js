// kata_attempts.js - the attempts at a kata so far: a list that is closed at first; each opens to what was handed in and its review.
import { el, fill, setText, written } from './dom.js';

/** @typedef {import('../../../../proto/docs/paige').PracticeAttempt} Attempt */

/** @param {Attempt} attempt */
function titleOf({ number, passed, level }) {
  return [`Attempt ${number}`, passed !== undefined && (passed ? 'passed' : 'not yet'), level !== undefined && `level ${level}`].filter(Boolean).join(', ');
}

/**
 * What it opens to.
 * @param {Attempt} attempt
 */
function inside({ number, code, codeCut, review, reviewCut, constraints }) {
  const aside = (/** @type {string} */ text) => el('p', { class: 'aside' }, text);
  return [
    constraints.length > 0 && aside(`Under: ${constraints.join(', ')}`),
    code ? el('pre', { tabindex: '0', role: 'group', 'aria-label': `What was handed in as attempt ${number}` }, code) : aside('An empty solution was handed in.'),
    codeCut && aside('The solution is longer than this.'),
    review ? written(review) : aside('Its review was not kept.'),
    reviewCut && aside('The review is longer than this.'),
  ];
}

/** @param {Attempt} attempt */
function attemptItem(attempt) {
  const shown = el('div', { class: 'attempt' });
  // Made when somebody wants to see it: texts may be long.
  const root = el('details', { ontoggle: () => void (root.open && !shown.firstChild && fill(shown, inside(attempt))) }, el('summary', {}, titleOf(attempt)), shown);
  return el('li', {}, root);
}

export function attemptList() {
  const name = el('summary', {});
  const said = el('p', { class: 'aside' });
  const list = el('ul', { class: 'attempts-list' });
  const root = el('details', { class: 'attempts', hidden: true }, name, said, list);
  /** @type {Map<string, HTMLElement>} */
  let items = new Map();
  return {
    root,
    /**
     * @param {Attempt[]} attempts the newest first
     * @param {number} total how many there are, also those that the daemon leaves off
     */
    set(attempts, total) {
      const had = items;
      items = new Map(attempts.map((attempt) => {
        const key = JSON.stringify(attempt);
        return [key, had.get(key) ?? attemptItem(attempt)];
      }));
      root.hidden = total === 0;
      setText(name, `Your attempts (${total})`);
      setText(said, total > attempts.length ? `The last ${attempts.length} are shown.` : '');
      said.hidden = total <= attempts.length;
      // What is open stays so, and who is in it stays there: what is there is not put in again.
      for (const [key, item] of had) if (!items.has(key)) item.remove();
      [...items.values()].forEach((item, i) => list.children[i] !== item && list.insertBefore(item, list.children[i] ?? null));
    },
  };
}
