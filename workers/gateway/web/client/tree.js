// tree.js - the files of the project as a tree. Only the rows that can be seen are in the page, so 100,000 files cost no more
// than forty.
import { el, fill, freshId } from './dom.js';

/**
 * @typedef {import('./tree_model.js').Node} Node
 * @typedef {import('./tree_model.js').TreeModel} TreeModel
 */

const ROW = 26;
/** Rows above and below what is seen. */
const SPARE = 8;
/** Letters typed within this belong together. */
const TYPING_MS = 700;

export class Tree {
  /**
   * @param {TreeModel} model
   * @param {{open(path: string): void, dismiss(path: string): void, hint(path: string): string | undefined, mark(path: string): string}} host `hint`: how a file is hinted at; `mark`: a word about it; `dismiss`: its hint
   */
  constructor(model, host) {
    this.model = model;
    this.host = host;
    this.at = 0;
    /**
     * The row that was at `at` when the tree was drawn.
     * @type {Node | undefined}
     */
    this.here = undefined;
    /** The file that was selected last. */
    this.wanted = '';
    this.typed = '';
    this.typedAt = 0;
    this.stem = freshId('file');
    this.space = el('div', { class: 'tree-space', role: 'presentation' });
    this.root = el('div', { class: 'tree', role: 'tree', 'aria-label': 'Files', tabindex: '0', onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event), onscroll: () => this.draw() }, this.space);
    new ResizeObserver(() => this.draw()).observe(this.root);
    model.version.watch(() => this.refresh());
  }

  get rows() {
    return this.model.rows;
  }

  /** The current row stays the same one, wherever it is now. */
  refresh() {
    const node = this.here && this.model.nodes.get(this.here.path);
    const index = node ? this.model.indexOf(node) : -1;
    this.at = Math.max(0, Math.min(index < 0 ? this.at : index, this.rows.length - 1));
    this.draw();
  }

  draw() {
    this.here = this.rows[this.at];
    const first = Math.max(0, Math.floor(this.root.scrollTop / ROW) - SPARE);
    const last = Math.min(this.rows.length, Math.ceil((this.root.scrollTop + this.root.clientHeight) / ROW) + SPARE);
    this.space.style.height = `${this.rows.length * ROW}px`;
    fill(this.space, this.rows.slice(first, last).map((node, i) => this.row(node, first + i)));
    if (this.at >= first && this.at < last) this.root.setAttribute('aria-activedescendant', `${this.stem}-${this.at}`);
    else this.root.removeAttribute('aria-activedescendant');
  }

  /** @param {Node} node @param {number} index */
  row(node, index) {
    const hint = this.host.hint(node.path);
    const mark = this.host.mark(node.path);
    const row = el(
      'div',
      {
        id: `${this.stem}-${index}`,
        class: `tree-row${index === this.at ? ' here' : ''}${hint ? ` hinted hint-${hint}` : ''}`,
        role: 'treeitem',
        title: node.path,
        'aria-level': node.depth,
        'aria-setsize': node.parent?.children?.length,
        'aria-posinset': this.model.position(node) + 1,
        'aria-expanded': node.children ? String(node.open) : null,
        'aria-selected': String(index === this.at),
        onclick: () => this.choose(index),
      },
      el('span', { class: node.children ? (node.open ? 'twist open' : 'twist') : 'twist none', 'aria-hidden': 'true' }),
      el('span', { class: 'tree-name' }, node.name),
      mark && el('span', { class: 'tree-mark' }, mark),
      hint && el('span', { class: 'tree-hint' }, hint),
    );
    row.style.top = `${index * ROW}px`;
    row.style.paddingLeft = `${8 + (node.depth - 1) * 14}px`;
    return row;
  }

  /** @param {number} index */
  choose(index) {
    this.at = index;
    const node = this.rows[index];
    if (!node) return;
    this.draw();
    if (node.children) this.model.turn(node, !node.open);
    else this.host.open(node.path);
  }

  /** @param {number} index */
  go(index) {
    this.at = Math.max(0, Math.min(index, this.rows.length - 1));
    const top = this.at * ROW;
    const { scrollTop, clientHeight } = this.root;
    if (top < scrollTop) this.root.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.root.scrollTop = top + ROW - clientHeight;
    this.draw();
  }

  /**
   * Makes a file the current row.
   * @param {string} path
   */
  async select(path) {
    this.wanted = path;
    await this.model.reveal(path);
    if (this.wanted !== path) return;
    const node = this.model.nodes.get(path);
    const index = node ? this.model.indexOf(node) : -1;
    if (index >= 0) this.go(index);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = this.rows[this.at];
    const page = Math.max(1, Math.floor(this.root.clientHeight / ROW) - 1);
    /** @type {Record<string, () => void>} */
    const moves = {
      ArrowDown: () => this.go(this.at + 1),
      ArrowUp: () => this.go(this.at - 1),
      PageDown: () => this.go(this.at + page),
      PageUp: () => this.go(this.at - page),
      Home: () => this.go(0),
      End: () => this.go(this.rows.length - 1),
      Enter: () => this.choose(this.at),
      ' ': () => this.choose(this.at),
      Delete: () => node && this.host.dismiss(node.path),
      ArrowRight: () => (node?.children && !node.open ? this.model.turn(node, true) : this.go(this.at + 1)),
      ArrowLeft: () => (node?.children && node.open ? this.model.turn(node, false) : this.go(node?.parent ? this.model.indexOf(node.parent) : 0)),
    };
    if (moves[event.key]) moves[event.key]();
    else if (event.key.length === 1) this.type(event.key);
    else return;
    event.preventDefault();
  }

  /**
   * Goes to the next row whose name begins with what is typed.
   * @param {string} letter
   */
  type(letter) {
    const now = Date.now();
    this.typed = (now - this.typedAt < TYPING_MS ? this.typed : '') + letter.toLowerCase();
    this.typedAt = now;
    const from = this.typed.length > 1 ? this.at : this.at + 1;
    for (let i = 0; i < this.rows.length; i += 1) {
      const index = (from + i) % this.rows.length;
      if (this.rows[index].name.toLowerCase().startsWith(this.typed)) return this.go(index);
    }
  }
}
