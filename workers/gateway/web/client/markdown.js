// markdown.js - what Claude wrote, for people: of Markdown what a message needs, which is paragraphs, headings, lists, quotations, rules,
// tables, code, emphasis and links to the web. All the rest is shown as it was written. Elements are made one by one and texts stay text nodes, so
// nothing that was written becomes markup of its own. Texts come from strangers, too: every step goes over a text once, nesting and the
// number of elements are bounded. (The parser of Debian 12 and 13, marked, takes 25 s for 16 KiB of "*a ".)
import { el } from './dom.js';

/**
 * @typedef {{left: number}} Budget elements that may still be made
 * @typedef {{mark: string, index: number, close: Mark | null, code: boolean}} Mark `close`: the mark that would end what this one begins; `code`: it is inside of code
 * @typedef {{lines: string[], indent: number}} Item
 */

/** A longer text is shown as it is. */
const TEXT_MAX = 65536;
const ELEMENTS_MAX = 2000;
const DEPTH_MAX = 5;
/** What has more is no table. */
const COLUMNS_MAX = 30;

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
/** An item that may begin in the middle of a paragraph: "1986. It was" may not. */
const FIRST_ITEM = /^ {0,3}(?:[-*+]|1[.)]) +\S/;
/** The line below the heads of a table, as far as its characters tell. */
const UNDERLINE = /^ {0,3}[-:|][-:| \t]*$/;
const COLUMN = /^(:?)-+(:?)$/;
const MARK = /\\[!-/:-@[-_{-~]|`+|\*+|_+|~~|\[|https?:\/\//g;
const LINK = /\[([^[\]\n]{1,500})\]\((https?:\/\/[^\s()<>"]{1,2000})\)/y;
const ADDRESS = /https?:\/\/[^\s<>"'`()[\]]{1,2000}/y;
const wrappers = /** @type {Record<string, ('em' | 'strong' | 'del')[]>} */ ({ '*': ['em'], _: ['em'], '**': ['strong'], __: ['strong'], '***': ['strong', 'em'], ___: ['strong', 'em'], '~~': ['del'] });

const space = (/** @type {string | undefined} */ char) => char === undefined || /\s/.test(char);
const letter = (/** @type {string | undefined} */ char) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);

/** @param {string} text @param {Mark} m */
function opens(text, { mark, index }) {
  return !space(text[index + mark.length]) && !(mark[0] === '_' && letter(text[index - 1]));
}

/** @param {string} text @param {Mark} m */
function closes(text, { mark, index }) {
  return index > 0 && !space(text[index - 1]) && !(mark[0] === '_' && letter(text[index + mark.length]));
}

/**
 * Links each mark to the next one of its kind that could end it.
 * @param {Mark[]} marks
 * @param {(m: Mark) => boolean} may whether it can end one
 */
function pair(marks, may) {
  /** @type {Map<string, Mark>} */
  const next = new Map();
  for (let i = marks.length - 1; i >= 0; i -= 1) {
    marks[i].close = next.get(marks[i].mark) ?? null;
    if (may(marks[i])) next.set(marks[i].mark, marks[i]);
  }
}

/** @param {string} text */
function marksOf(text) {
  const marks = [...text.matchAll(MARK)].map((match) => /** @type {Mark} */ ({ mark: match[0], index: match.index, close: null, code: false }));
  const ticks = marks.filter(({ mark }) => mark[0] === '`');
  pair(ticks, () => true);
  let end = -1;
  for (const m of marks) {
    m.code = m.index < end;
    if (!m.code && m.mark[0] === '`' && m.close) end = m.close.index + m.mark.length;
  }
  pair(marks.filter(({ mark, code }) => !code && mark in wrappers), (m) => closes(text, m));
  return marks;
}

/** @param {string} href @param {string} said */
function link(href, said) {
  const { host } = new URL(href);
  const node = el('a', { href, target: '_blank', rel: 'noopener noreferrer' }, said);
  // Where it leads, since the words may say anything.
  return said.includes(host) ? [node] : [node, el('span', { class: 'link-host' }, ` (${host})`)];
}

/**
 * The link at a place of a text, and where the text goes on.
 * @param {string} text
 * @param {number} index
 * @returns {[(Node | string)[], number] | null}
 */
function linkAt(text, index) {
  const regex = text[index] === '[' ? LINK : ADDRESS;
  regex.lastIndex = index;
  const found = regex.exec(text);
  if (!found) return null;
  let whole = found[0];
  while (regex === ADDRESS && '.,;:!?*_~'.includes(whole[whole.length - 1])) whole = whole.slice(0, -1);
  try {
    return [link(regex === LINK ? found[2] : whole, regex === LINK ? found[1] : whole), index + whole.length];
  } catch {
    // Not an address after all: it is not looked at again.
    return regex === LINK ? null : [[whole], index + whole.length];
  }
}

/** @param {string} inside of a code span */
function codeSpan(inside) {
  const padded = inside.startsWith(' ') && inside.endsWith(' ') && inside.trim() !== '';
  return el('code', {}, padded ? inside.slice(1, -1) : inside);
}

/**
 * What begins with a mark, and where the text goes on; null: the mark is only itself.
 * @param {string} text
 * @param {Mark} m
 * @param {Budget} budget
 * @param {number} depth
 * @returns {[(Node | string)[], number] | null}
 */
function spanAt(text, m, budget, depth) {
  const { mark, index, close } = m;
  if (mark[0] === '\\') return [[mark[1]], index + 2];
  if (mark[0] === '[' || mark[0] === 'h') return linkAt(text, index);
  if (!close) return null;
  const inside = text.slice(index + mark.length, close.index);
  if (mark[0] === '`') return [[codeSpan(inside)], close.index + mark.length];
  if (!wrappers[mark] || !opens(text, m)) return null;
  /** @type {(Node | string)[]} */
  let content = inline(inside, budget, depth + 1);
  for (const name of [...wrappers[mark]].reverse()) content = [el(name, {}, content)];
  return [content, close.index + mark.length];
}

/**
 * @param {string} text
 * @param {Budget} budget
 * @param {number} depth
 * @returns {(Node | string)[]}
 */
function inline(text, budget, depth = 0) {
  if (depth > DEPTH_MAX) return [text];
  /** @type {(Node | string)[]} */
  const out = [];
  let at = 0;
  for (const m of marksOf(text)) {
    if (m.index < at || budget.left <= 0) continue;
    const span = spanAt(text, m, budget, depth);
    if (!span) continue;
    budget.left -= 1;
    out.push(text.slice(at, m.index), ...span[0]);
    at = span[1];
  }
  out.push(text.slice(at));
  return out.filter((part) => part !== '');
}

/**
 * Whether a line ends the paragraph above it.
 * @param {string} line
 */
function begins(line) {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || FIRST_ITEM.test(line);
}

/** @param {string} line @param {number} indent at most so much is taken from its beginning */
function dedent(line, indent) {
  let n = 0;
  while (n < indent && line[n] === ' ') n += 1;
  return line.slice(n);
}

/**
 * The cells of a line of a table.
 * @param {string} line
 */
function cellsOf(line) {
  const cells = line.trim().split(/(?<!\\)\|/);
  if (cells[0] === '') cells.shift();
  if (cells[cells.length - 1] === '') cells.pop();
  return cells.map((cell) => cell.replaceAll('\\|', '|').trim());
}

/**
 * How a table that begins with two lines aligns its columns, as classes; null: no table begins there.
 * @param {string} heads
 * @param {string | undefined} underline
 */
function columnsOf(heads, underline) {
  if (underline === undefined || !underline.includes('|') || !UNDERLINE.test(underline)) return null;
  const columns = cellsOf(underline);
  if (!columns.length || columns.length > COLUMNS_MAX || !columns.every((cell) => COLUMN.test(cell)) || cellsOf(heads).length !== columns.length) return null;
  return columns.map((cell) => (cell.endsWith(':') ? (cell.startsWith(':') ? 'center' : 'right') : null));
}

/** The blocks of some lines. */
class Blocks {
  /** @param {string[]} lines @param {Budget} budget @param {number} depth */
  constructor(lines, budget, depth) {
    this.lines = lines;
    this.budget = budget;
    this.depth = depth;
    this.at = 0;
  }

  /** @returns {HTMLElement[]} */
  all() {
    /** @type {HTMLElement[]} */
    const out = [];
    while (this.at < this.lines.length) {
      const node = this.one();
      if (node) out.push(node);
      this.budget.left -= 1;
    }
    return out;
  }

  /** How the table that begins here aligns its columns; null: none begins here. */
  columns() {
    return columnsOf(this.lines[this.at], this.lines[this.at + 1]);
  }

  /** The next block; takes at least a line. */
  one() {
    const line = this.lines[this.at];
    const heading = HEADING.exec(line);
    if (line.trim() === '') return void (this.at += 1);
    if (this.budget.left <= 0) return this.rest();
    if (FENCE.test(line)) return this.code();
    if (heading) {
      this.at += 1;
      return el('p', { class: 'text prose-heading' }, inline(heading[1].replace(/(^|[ \t])#+[ \t]*$/, ''), this.budget));
    }
    if (RULE.test(line)) {
      this.at += 1;
      return el('hr');
    }
    if (this.depth < DEPTH_MAX && QUOTE.test(line)) return this.quote();
    if (this.depth < DEPTH_MAX && ITEM.test(line)) return this.list();
    const columns = this.columns();
    return columns ? this.table(columns) : this.paragraph();
  }

  /** All that is left, as it is. */
  rest() {
    const text = this.lines.slice(this.at).join('\n');
    this.at = this.lines.length;
    return el('p', { class: 'text' }, text);
  }

  code() {
    const fence = /** @type {RegExpExecArray} */ (FENCE.exec(this.lines[this.at]))[1];
    const begin = this.at + 1;
    let end = begin;
    const ends = (/** @type {string} */ line) => line.startsWith(fence) && line.replaceAll(fence[0], '') === '';
    while (end < this.lines.length && !ends(this.lines[end].trim())) end += 1;
    this.at = end + 1;
    return el('pre', { tabindex: '0', role: 'group', 'aria-label': 'Code' }, el('code', {}, this.lines.slice(begin, end).join('\n')));
  }

  paragraph() {
    const begin = this.at;
    do this.at += 1;
    while (this.at < this.lines.length && this.lines[this.at].trim() !== '' && !begins(this.lines[this.at]) && !this.columns());
    return el('p', { class: 'text' }, inline(this.lines.slice(begin, this.at).join('\n').trim(), this.budget));
  }

  /** @param {(string | null)[]} columns */
  table(columns) {
    const heads = this.row(columns, (text, align) => (text.length ? el('th', { scope: 'col', class: align }, text) : el('td')));
    const rows = [];
    this.at += 1;
    while (this.at < this.lines.length && this.budget.left > 0 && this.lines[this.at].trim() !== '' && !begins(this.lines[this.at])) rows.push(this.row(columns, (text, align) => el('td', { class: align }, text)));
    // Wide ones scroll in themselves.
    return el('div', { class: 'scrolls', tabindex: '0', role: 'group', 'aria-label': 'Table' }, el('table', {}, el('thead', {}, heads), el('tbody', {}, rows)));
  }

  /**
   * The next line as a row, with as many cells as there are columns.
   * @param {(string | null)[]} columns
   * @param {(text: (Node | string)[], align: string | null) => HTMLElement} cell
   */
  row(columns, cell) {
    const texts = cellsOf(this.lines[this.at]);
    this.at += 1;
    this.budget.left -= columns.length + 1;
    return el('tr', {}, columns.map((align, i) => cell(inline(texts[i] ?? '', this.budget), align)));
  }

  quote() {
    /** @type {string[]} */
    const inside = [];
    for (; this.at < this.lines.length && QUOTE.test(this.lines[this.at]); this.at += 1) inside.push(this.lines[this.at].replace(QUOTE, ''));
    return el('blockquote', {}, new Blocks(inside, this.budget, this.depth + 1).all());
  }

  list() {
    const ordered = /\d/.test(/** @type {RegExpExecArray} */ (ITEM.exec(this.lines[this.at]))[2]);
    const start = ordered ? parseInt(this.lines[this.at], 10) : null;
    /** @type {Item[]} */
    const items = [];
    for (; this.at < this.lines.length; this.at += 1) if (!this.take(this.lines[this.at], items, ordered)) break;
    return el(ordered ? 'ol' : 'ul', { start: start === 1 ? null : start }, items.map(({ lines }) => el('li', {}, new Blocks(lines, this.budget, this.depth + 1).all())));
  }

  /**
   * Whether a line belongs to a list; it is put into its item then.
   * @param {string} line
   * @param {Item[]} items
   * @param {boolean} ordered
   */
  take(line, items, ordered) {
    const last = items[items.length - 1];
    const item = ITEM.exec(line);
    const other = item !== null && /\d/.test(item[2]) !== ordered;
    const nested = last && (line.startsWith(' '.repeat(last.indent)) || (other && line.startsWith('  ')));
    if (item && !nested) {
      if (other || RULE.test(line) || this.budget.left <= 0) return false;
      this.budget.left -= 1;
      const indent = item[3].length > 4 ? item[1].length + item[2].length + 1 : item[0].length;
      items.push({ lines: [line.slice(indent)], indent: Math.max(indent, 2) });
      return true;
    }
    const indented = line.startsWith('  ');
    const blank = line.trim() === '';
    const after = last.lines[last.lines.length - 1] === '';
    if (!blank && !indented && (after || begins(line))) return false;
    last.lines.push(blank ? '' : dedent(line, last.indent));
    return true;
  }
}

/**
 * @param {string} text
 * @returns {HTMLElement}
 */
export function prose(text) {
  const lines = text.split(/\r\n|\r|\n/);
  const content = text.length > TEXT_MAX ? [el('p', { class: 'text' }, text)] : new Blocks(lines, { left: ELEMENTS_MAX }, 0).all();
  return el('div', { class: 'prose' }, content);
}
