// tree.js - the files of the project as a tree. Only the rows that can be seen are in the page, so 100,000 files cost no more
// than forty.
import { el, fill, freshId } from './dom.js';
import { Value } from './store.js';

/**
 * @typedef {import('../../../../proto/docs/paige').TreeNode} TreeNode
 * @typedef {{name: string, path: string, children: Node[] | null, open: boolean, parent: Node | null, depth: number}} Node `children`: null for a file
 * @typedef {import('./connection.js').Connection} Connection
 */

const ROW = 26;
/** Rows above and below what is seen. */
const SPARE = 8;
/** Letters typed within this belong together. */
const TYPING_MS = 700;

/** @param {Node} a @param {Node} b */
function order(a, b) {
  if (!a.children !== !b.children) return a.children ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** @param {string} path */
function parentOf(path) {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.';
}

/** The tree as the daemon tells it. */
export class TreeModel {
  /** @param {Connection} connection */
  constructor(connection) {
    /** @type {Map<string, Node>} */
    this.nodes = new Map();
    this.root = this.make('.', '.', true, null);
    this.known = new Value(false);
    this.version = new Value(0);
    connection.on('fs:tree', ({ payload }) => this.replace(payload.root));
    connection.on('fs:tree_update', ({ payload }) => this.change(payload.action, payload.path, payload.newPath));
  }

  /** @param {string} name @param {string} path @param {boolean} directory @param {Node | null} parent @returns {Node} */
  make(name, path, directory, parent) {
    const node = { name, path, children: directory ? [] : null, open: !parent, parent, depth: parent ? parent.depth + 1 : 0 };
    this.nodes.set(path, node);
    return node;
  }

  /** @param {TreeNode} root */
  replace(root) {
    const open = new Set([...this.nodes.values()].filter((node) => node.open).map((node) => node.path));
    this.nodes = new Map();
    this.root = this.make(root.name, '.', true, null);
    /** @type {[TreeNode, Node][]} */
    const rest = [[root, this.root]];
    for (let next = rest.pop(); next; next = rest.pop()) {
      const [from, to] = next;
      for (const child of from.children ?? []) {
        const node = this.make(child.name, child.path, child.type === 'directory', to);
        node.open = open.has(child.path);
        to.children?.push(node);
        if (child.children) rest.push([child, node]);
      }
    }
    this.known.set(true);
    this.version.update((n) => n + 1);
  }

  /** @param {string} action @param {string} path @param {string} [newPath] */
  change(action, path, newPath) {
    if (action === 'add' || action === 'addDir') this.add(path, action === 'addDir');
    else if (action === 'unlink' || action === 'unlinkDir') this.remove(path);
    else if (action === 'rename' && newPath) this.rename(path, newPath);
    else return;
    this.version.update((n) => n + 1);
  }

  /** @param {string} path @param {boolean} directory */
  add(path, directory) {
    const parent = this.nodes.get(parentOf(path));
    if (!parent?.children || this.nodes.has(path)) return;
    parent.children.push(this.make(path.slice(path.lastIndexOf('/') + 1), path, directory, parent));
    parent.children.sort(order);
  }

  /** @param {string} path */
  remove(path) {
    const node = this.nodes.get(path);
    if (!node?.parent?.children) return;
    node.parent.children = node.parent.children.filter((other) => other !== node);
    for (const rest = [node]; rest.length; ) {
      const one = rest.pop();
      if (one) this.nodes.delete(one.path);
      rest.push(...(one?.children ?? []));
    }
  }

  /** @param {string} path @param {string} to */
  rename(path, to) {
    const node = this.nodes.get(path);
    const parent = this.nodes.get(parentOf(to));
    if (!node || !parent?.children) return;
    this.remove(path);
    this.remove(to);
    /** @type {Node} */
    const moved = { ...node, name: to.slice(to.lastIndexOf('/') + 1), path: to, parent };
    parent.children.push(moved);
    parent.children.sort(order);
    for (const rest = [moved]; rest.length; ) {
      const one = /** @type {Node} */ (rest.pop());
      one.depth = /** @type {Node} */ (one.parent).depth + 1;
      this.nodes.set(one.path, one);
      for (const child of one.children ?? []) {
        Object.assign(child, { path: `${one.path}/${child.name}`, parent: one });
        rest.push(child);
      }
    }
  }

  /**
   * The rows, in order.
   * @returns {Node[]}
   */
  rows() {
    /** @type {Node[]} */
    const out = [];
    /** @type {Node[]} */
    const rest = [...(this.root.children ?? [])].reverse();
    for (let node = rest.pop(); node; node = rest.pop()) {
      out.push(node);
      if (node.open && node.children) for (let i = node.children.length - 1; i >= 0; i -= 1) rest.push(node.children[i]);
    }
    return out;
  }

  /**
   * Opens the directories above a path.
   * @param {string} path
   */
  reveal(path) {
    for (let node = this.nodes.get(path)?.parent; node; node = node.parent) node.open = true;
    this.version.update((n) => n + 1);
  }
}

export class Tree {
  /**
   * @param {TreeModel} model
   * @param {{open(path: string): void, dismiss(path: string): void, hint(path: string): string | undefined, mark(path: string): string}} host `hint`: how a file is hinted at; `mark`: a word about it; `dismiss`: its hint
   */
  constructor(model, host) {
    this.model = model;
    this.host = host;
    /** @type {Node[]} */
    this.rows = [];
    this.at = 0;
    this.typed = '';
    this.typedAt = 0;
    this.stem = freshId('file');
    this.space = el('div', { class: 'tree-space', role: 'presentation' });
    this.root = el('div', { class: 'tree', role: 'tree', 'aria-label': 'Files', tabindex: '0', onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event), onscroll: () => this.draw() }, this.space);
    new ResizeObserver(() => this.draw()).observe(this.root);
    model.version.watch(() => this.refresh());
  }

  refresh() {
    const { path } = this.rows[this.at] ?? {};
    this.rows = this.model.rows();
    const index = path === undefined ? -1 : this.rows.findIndex((node) => node.path === path);
    this.at = Math.max(0, Math.min(index < 0 ? this.at : index, this.rows.length - 1));
    this.draw();
  }

  draw() {
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
    const siblings = node.parent?.children ?? [];
    const row = el(
      'div',
      {
        id: `${this.stem}-${index}`,
        class: `tree-row${index === this.at ? ' here' : ''}${hint ? ` hinted hint-${hint}` : ''}`,
        role: 'treeitem',
        title: node.path,
        'aria-level': node.depth,
        'aria-setsize': siblings.length,
        'aria-posinset': siblings.indexOf(node) + 1,
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
    if (node.children) this.turn(node, !node.open);
    else {
      this.draw();
      this.host.open(node.path);
    }
  }

  /** @param {Node} node @param {boolean} open */
  turn(node, open) {
    node.open = open;
    this.refresh();
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
  select(path) {
    this.model.reveal(path);
    const index = this.rows.findIndex((node) => node.path === path);
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
      ArrowRight: () => (node?.children && !node.open ? this.turn(node, true) : this.go(this.at + 1)),
      ArrowLeft: () => (node?.children && node.open ? this.turn(node, false) : this.go(this.rows.findIndex((row) => row === node?.parent))),
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
