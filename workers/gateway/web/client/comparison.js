// comparison.js - how a text differs from what the disk has, for who has to choose between them. Read when somebody compares, and
// ahead of that: most days nobody does.
import { lineDiff, pieces } from './diff.js';
import { el } from './dom.js';
import { count } from './format.js';

/** Lines that a comparison shows, and lines around a change. */
const COMPARED_MAX = 1000;
const CONTEXT = 3;

/** What a line of a comparison is, for the eye and for the ear. */
const sides = { same: { sign: ' ', said: '' }, removed: { sign: '−', said: 'on disk: ' }, added: { sign: '+', said: 'mine: ' } };

/**
 * From what the disk has to what the editor has, line by line.
 * @param {string} disk
 * @param {string} mine
 */
export function comparison(disk, mine) {
  const lines = lineDiff(disk, mine);
  const shown = pieces(lines, CONTEXT).slice(0, COMPARED_MAX);
  let left = COMPARED_MAX;
  const rows = shown.flatMap((piece) => {
    const part = piece.slice(0, left);
    left -= part.length;
    const row = (/** @type {import('./diff.js').Line} */ { kind, text, line }) =>
      el('div', { class: `diff-line ${kind}` }, el('span', { class: 'diff-number', 'aria-hidden': 'true' }, line), el('span', { class: 'diff-sign', 'aria-hidden': 'true' }, sides[kind].sign), el('span', { class: 'unseen' }, sides[kind].said), el('span', { class: 'diff-text' }, text));
    return part.length ? [el('div', { class: 'diff-piece' }, `From line ${part[0].line}`), ...part.map(row)] : [];
  });
  const changed = lines.filter(({ kind }) => kind !== 'same').length;
  const legend = el('p', { class: 'legend' }, el('span', { class: 'diff-key removed' }, '− on disk'), ' ', el('span', { class: 'diff-key added' }, '+ mine'), ` ${count(changed, 'line')} ${changed === 1 ? 'differs' : 'differ'}`, left <= 0 && `; only the first ${COMPARED_MAX} are shown`);
  return el('div', { class: 'comparison' }, legend, el('div', { class: 'diff', tabindex: '0', role: 'group', 'aria-label': 'Comparison' }, rows));
}
