// tree_model.js - the files of the project as the daemon tells them, and the rows of those whose directories are open, in order.
// A change costs what it changes, however many rows there are: rows are put in and taken out where it happens, and places are found
// by halving. What is in a directory is asked for once somebody opens it; of a whole tree it is looked at then, or when something in
// it changes.
import { Value } from './store.js';

/**
 * @typedef {import('../../../../proto/docs/paige').TreeNode} TreeNode
 * @typedef {{name: string, path: string, children: Node[] | null, open: boolean, parent: Node | null, depth: number, told: TreeNode[] | null, asked: Promise<boolean> | null, stale: boolean}} Node `children`: in order; null for a file; `told`: what is in it and not among `children` yet; null: the daemon has not told; `asked`: it is asked; `stale`: and something in it changed since
 * @typedef {import('./connection.js').Connection} Connection
 */

/**
 * Of two in one directory: directories first.
 * @param {Node} a
 * @param {Node} b
 */
function order(a, b) {
  if (!a.children !== !b.children) return a.children ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/**
 * Of any two: as rows stand below each other, a directory above what is in it.
 * @param {Node} a
 * @param {Node} b
 */
function rowOrder(a, b) {
  let [x, y] = [a, b];
  while (x.depth > y.depth) x = /** @type {Node} */ (x.parent);
  while (y.depth > x.depth) y = /** @type {Node} */ (y.parent);
  if (x === y) return a.depth - b.depth;
  while (x.parent !== y.parent) [x, y] = [/** @type {Node} */ (x.parent), /** @type {Node} */ (y.parent)];
  return order(x, y);
}

/**
 * Where a node stands in a list, or would.
 * @param {Node[]} list
 * @param {Node} node
 * @param {(a: Node, b: Node) => number} compare
 */
function place(list, node, compare) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(list[middle], node) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {string} path */
function parentOf(path) {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.';
}

export class TreeModel {
  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    /** @type {Map<string, Node>} */
    this.nodes = new Map();
    /**
     * Directories that were open when they went, and are opened when they come back.
     * @type {Set<string>}
     */
    this.reopen = new Set();
    /**
     * The rows, in order.
     * @type {Node[]}
     */
    this.rows = [];
    this.root = this.make('.', '.', true, null);
    this.known = new Value(false);
    /** Something may have changed that nobody told, and not all of it was asked for. */
    this.outdated = false;
    /** Renewals that were begun. */
    this.renewals = 0;
    this.version = new Value(0);
    connection.on('fs:tree', ({ payload }) => this.replace(payload.root));
    connection.on('fs:tree_stale', () => this.renew());
    connection.on('connection:init', () => this.outdated && this.renew());
    connection.on('fs:tree_update', ({ payload }) => this.change(payload.action, payload.path, payload.newPath));
  }

  /** @param {string} name @param {string} path @param {boolean} directory @param {Node | null} parent @returns {Node} */
  make(name, path, directory, parent) {
    const node = { name, path, children: directory ? [] : null, open: !parent, parent, depth: parent ? parent.depth + 1 : 0, told: [], asked: null, stale: false };
    this.nodes.set(path, node);
    return node;
  }

  /**
   * Another tree; directories that were open are opened again.
   * @param {TreeNode} root
   */
  replace(root) {
    this.outdated = false;
    this.renewals += 1;
    this.reopen = new Set(this.forget(this.root));
    this.root = this.make(root.name, '.', true, null);
    this.root.told = root.children ?? [];
    this.unfold(this.root);
    this.rows = this.below(this.root);
    this.known.set(true);
    this.version.update((n) => n + 1);
  }

  /**
   * Asks again for all that is shown, one directory after the other; what is in closed ones is asked for once somebody opens
   * them. Rows stay where they are as far as what they show is still there.
   */
  async renew() {
    this.outdated = true;
    this.renewals += 1;
    const mine = this.renewals;
    /** @type {Node[]} */
    const open = [];
    for (const rest = [this.root]; rest.length; ) {
      const node = /** @type {Node} */ (rest.pop());
      if (node.open) {
        open.push(node);
        for (const child of node.children ?? []) if (child.children) rest.push(child);
      } else if (node.told) {
        for (const child of node.children ?? []) for (const path of this.forget(child)) this.reopen.add(path);
        Object.assign(node, { children: [], told: null });
      }
    }
    const there = (/** @type {Node} */ node) => this.nodes.get(node.path) === node;
    let all = true;
    for (const node of open) {
      if (there(node) && node.open && !(await this.list(node)) && there(node)) all = false;
      // Another tree has come, or another renewal.
      if (mine !== this.renewals) return;
    }
    this.outdated = !all;
  }

  /**
   * Takes a node out of those that are known, with all that is in it.
   * @param {Node} node
   * @returns the directories of it that were open
   */
  forget(node) {
    /** @type {string[]} */
    const open = [];
    for (const rest = [node]; rest.length; ) {
      const one = /** @type {Node} */ (rest.pop());
      this.nodes.delete(one.path);
      if (one.open) open.push(one.path);
      for (const child of one.children ?? []) rest.push(child);
    }
    return open;
  }

  /**
   * Makes nodes of what is in a directory, and of what is in those of its directories that are open.
   * @param {Node} top
   */
  unfold(top) {
    for (const rest = [top]; rest.length; ) {
      const node = /** @type {Node} */ (rest.pop());
      const { told, children } = node;
      if (!children || !told?.length) continue;
      node.told = [];
      for (const { name, type, children: inside } of told) {
        const child = this.make(name, node.parent ? `${node.path}/${name}` : name, type === 'directory', node);
        children.push(child);
        if (!child.children) continue;
        child.told = inside ?? null;
        child.open = this.reopen.delete(child.path);
        if (child.open && !child.told) this.list(child);
        else if (child.open) rest.push(child);
      }
      children.sort(order);
    }
  }

  /**
   * Asks what is in a directory, which may be known or not.
   * @param {Node} node
   * @returns {Promise<boolean>} when it is there, or cannot be had: false, and the next who opens it asks again
   */
  list(node) {
    node.stale = node.asked !== null;
    node.asked ??= this.connection.ask('fs:list', { path: node.path }, ['fs:listed']).then(({ payload }) => {
      node.asked = null;
      if (this.nodes.get(node.path) !== node) return true;
      this.listed(node, payload.root.children ?? []);
      return node.stale ? this.list(node) : true;
    }).catch(() => {
      node.asked = null;
      return false;
    });
    return node.asked;
  }

  /**
   * What is in a directory. What was known of it and is there still stays, with what is in that.
   * @param {Node} node
   * @param {TreeNode[]} told
   */
  listed(node, told) {
    const { open } = node;
    this.shift(node, false);
    this.unfold(node);
    const types = new Map(told.map(({ name, type }) => [name, type]));
    const stays = (/** @type {Node} */ { name, children }) => types.get(name) === (children ? 'directory' : 'file');
    const [kept, gone] = [/** @type {Node[]} */ ([]), /** @type {Node[]} */ ([])];
    for (const child of node.children ?? []) (stays(child) ? kept : gone).push(child);
    for (const child of gone) this.forget(child);
    const names = new Set(kept.map(({ name }) => name));
    Object.assign(node, { children: kept, told: told.filter(({ name }) => !names.has(name)) });
    this.shift(node, open);
    this.version.update((n) => n + 1);
  }

  /**
   * Whether it is known what is in a directory. If not, an answer that is under way may be older than what is said now.
   * @param {Node | undefined} node
   */
  isKnown(node) {
    if (node?.asked) node.stale = true;
    return Boolean(node?.children && node.told);
  }

  /**
   * The node at a path, made if need be.
   * @param {string} path
   */
  find(path) {
    for (let at = path.indexOf('/'); at >= 0 && !this.nodes.has(path); at = path.indexOf('/', at + 1)) {
      const above = this.nodes.get(path.slice(0, at));
      if (!above) break;
      this.unfold(above);
    }
    return this.nodes.get(path);
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
    const parent = this.find(parentOf(path));
    if (parent && this.isKnown(parent) && !this.find(path)) this.enter(this.make(path.slice(path.lastIndexOf('/') + 1), path, directory, parent));
  }

  /** @param {string} path */
  remove(path) {
    const node = this.find(path);
    this.isKnown(this.find(parentOf(path)));
    const siblings = node?.parent?.children;
    if (!node || !siblings) return;
    if (this.visible(node)) this.takeOut(place(this.rows, node, rowOrder), node.depth);
    siblings.splice(place(siblings, node, order), 1);
    this.forget(node);
  }

  /** @param {string} path @param {string} to */
  rename(path, to) {
    const node = this.find(path);
    const parent = this.find(parentOf(to));
    if (!node || !parent || !this.isKnown(parent)) {
      this.remove(path);
      // Whether it is a file or a directory is said by nobody.
      if (parent && this.isKnown(parent)) this.list(parent);
      return;
    }
    this.remove(path);
    this.remove(to);
    /** @type {Node} */
    const moved = { ...node, asked: null, stale: false, name: to.slice(to.lastIndexOf('/') + 1), path: to, parent };
    for (const rest = [moved]; rest.length; ) {
      const one = /** @type {Node} */ (rest.pop());
      one.depth = /** @type {Node} */ (one.parent).depth + 1;
      this.nodes.set(one.path, one);
      for (const child of one.children ?? []) {
        Object.assign(child, { path: `${one.path}/${child.name}`, parent: one });
        rest.push(child);
      }
    }
    this.enter(moved);
    if (moved.open && !moved.told) this.list(moved);
  }

  /**
   * Puts a node, with all that is in it, among the others of its directory and among the rows.
   * @param {Node} node
   */
  enter(node) {
    const siblings = /** @type {Node[]} */ (node.parent?.children);
    siblings.splice(place(siblings, node, order), 0, node);
    if (this.visible(node)) this.putIn(place(this.rows, node, rowOrder), [node, ...(node.open ? this.below(node) : [])]);
  }

  /**
   * Whether every directory above it is open.
   * @param {Node} node
   */
  visible(node) {
    for (let { parent } = node; parent; { parent } = parent) if (!parent.open) return false;
    return true;
  }

  /**
   * The rows below an open directory.
   * @param {Node} node
   */
  below(node) {
    /** @type {Node[]} */
    const out = [];
    /** @type {Node[]} */
    const rest = [...(node.children ?? [])].reverse();
    for (let next = rest.pop(); next; next = rest.pop()) {
      out.push(next);
      if (next.open && next.children) for (let i = next.children.length - 1; i >= 0; i -= 1) rest.push(next.children[i]);
    }
    return out;
  }

  /** @param {number} index @param {Node[]} rows any number: a call has too few arguments for a splice of many */
  putIn(index, rows) {
    if (rows.length === 1) this.rows.splice(index, 0, rows[0]);
    else this.rows = this.rows.slice(0, index).concat(rows, this.rows.slice(index));
  }

  /**
   * Takes out the row at an index, if it is not above `depth`, and those behind it that are deeper.
   * @param {number} index
   * @param {number} depth
   */
  takeOut(index, depth) {
    let end = index + 1;
    while (end < this.rows.length && this.rows[end].depth > depth) end += 1;
    this.rows.splice(index, end - index);
  }

  /**
   * The row of a node; -1 when it has none.
   * @param {Node} node
   */
  indexOf(node) {
    const index = place(this.rows, node, rowOrder);
    return this.rows[index] === node ? index : -1;
  }

  /**
   * Its place among the others of its directory, counted from 0.
   * @param {Node} node
   */
  position(node) {
    return place(node.parent?.children ?? [], node, order);
  }

  /**
   * Opens or closes a directory.
   * @param {Node} node
   * @param {boolean} open
   */
  turn(node, open) {
    if (!node.children || node.open === open) return;
    this.shift(node, open);
    if (open && !node.told) this.list(node);
    this.version.update((n) => n + 1);
  }

  /**
   * Puts the rows below a directory in, or takes them out. The project itself has no row: its rows are all there are.
   * @param {Node} node
   * @param {boolean} open
   */
  shift(node, open) {
    const index = this.indexOf(node);
    const shown = index >= 0 || !node.parent;
    const shut = shown && node.open && this.rows[index + 1]?.depth > node.depth;
    node.open = open;
    if (open) this.unfold(node);
    if (shut) this.takeOut(index + 1, node.depth);
    if (shown && open) this.putIn(index + 1, this.below(node));
  }

  /**
   * Opens the directories above a path.
   * @param {string} path
   */
  async reveal(path) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const node = this.find(path.slice(0, at));
      if (!node?.children) return;
      this.turn(node, true);
      if (!node.told) await node.asked;
    }
  }
}
