// diff.js - in which lines two texts differ. Pure.

/** @typedef {{kind: 'same' | 'removed' | 'added', text: string, line: number}} Line `line`: its number, from 1, in the text that has it */

/** With more changed lines than this, all between the first and the last change counts as changed. */
const EDITS_MAX = 400;

/**
 * The path of fewest edits from `a` to `b`, found as E. Myers describes it ("An O(ND) Difference Algorithm"): after `d` edits, the
 * furthest line of `a` on each diagonal. Null when it takes more than EDITS_MAX.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Int32Array[] | null} the furthest lines before each edit
 */
function edits(a, b) {
  const most = Math.min(a.length + b.length, EDITS_MAX);
  const far = new Int32Array(2 * most + 3);
  /** @type {Int32Array[]} */
  const trace = [];
  for (let d = 0; d <= most; d += 1) {
    trace.push(far.slice(most + 1 - d - 1, most + 1 + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const at = most + 1 + k;
      let x = k === -d || (k !== d && far[at - 1] < far[at + 1]) ? far[at + 1] : far[at - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      far[at] = x;
      if (x >= a.length && x - k >= b.length) return trace;
    }
  }
  return null;
}

/**
 * @param {string[]} a
 * @param {string[]} b
 * @returns {('same' | 'removed' | 'added')[]} in the order of the texts
 */
function script(a, b) {
  const trace = edits(a, b);
  if (!trace) return [...a.map(() => /** @type {const} */ ('removed')), ...b.map(() => /** @type {const} */ ('added'))];
  /** @type {('same' | 'removed' | 'added')[]} */
  const out = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const far = trace[d];
    const furthest = (/** @type {number} */ k) => far[k + d + 1];
    const k = x - y;
    const down = k === -d || (k !== d && furthest(k - 1) < furthest(k + 1));
    const fromX = d === 0 ? 0 : down ? furthest(k + 1) : furthest(k - 1);
    const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      out.push('same');
      x -= 1;
      y -= 1;
    }
    if (d > 0) out.push(down ? 'added' : 'removed');
    [x, y] = [fromX, fromY];
  }
  return out.reverse();
}

/**
 * All lines of both texts: those that are the same once, those removed from `before` and added in `after` apart.
 * @param {string} before
 * @param {string} after
 * @returns {Line[]}
 */
export function lineDiff(before, after) {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const same = (/** @type {number} */ n) => Array.from({ length: n }, () => /** @type {const} */ ('same'));
  const kinds = [...same(start), ...script(a.slice(start, a.length - end), b.slice(start, b.length - end)), ...same(end)];
  let [i, j] = [0, 0];
  return kinds.map((kind) => {
    if (kind === 'removed') return { kind, text: a[i++], line: i };
    if (kind === 'same') i += 1;
    return { kind, text: b[j++], line: j };
  });
}

/**
 * The changed lines with `context` lines around them, in pieces.
 * @param {Line[]} lines
 * @param {number} context
 * @returns {Line[][]}
 */
export function pieces(lines, context) {
  /** @type {Line[][]} */
  const out = [];
  let shownTo = 0;
  lines.forEach(({ kind }, i) => {
    if (kind === 'same') return;
    const from = Math.max(shownTo, i - context);
    const to = Math.min(lines.length, i + context + 1);
    const piece = out[out.length - 1];
    if (piece && from === shownTo) piece.push(...lines.slice(from, to));
    else out.push(lines.slice(from, to));
    shownTo = Math.max(shownTo, to);
  });
  return out;
}
