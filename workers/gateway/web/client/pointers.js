// pointers.js - where Claude points: highlights in texts and hints at files, until they are dismissed in any window. What is drawn
// of them belongs to the editor and to the tree.
import { Value } from './store.js';

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {{path: string, start: number, end: number, style: string, hoverText?: string}} Highlight
 */

/** Of one file; the newest stay. */
const HIGHLIGHTS_MAX = 200;

export class Pointers {
  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    /**
     * By the path of the file.
     * @type {Map<string, Highlight[]>}
     */
    this.highlights = new Map();
    /**
     * The style of the hint, by the path of the file.
     * @type {Map<string, string>}
     */
    this.hints = new Map();
    this.changed = new Value(0);
    this.listen();
  }

  listen() {
    const { connection } = this;
    connection.on('editor:highlight_lines', ({ payload }) => this.highlight(payload));
    connection.on('editor:highlight_dismissed', ({ payload: { path, start, end } }) => this.drop(path, start, end));
    connection.on('editor:clear_highlights', ({ payload }) => this.clear(payload.path));
    connection.on('explorer:hint_files', ({ payload }) => {
      for (const { path, style } of payload.hints) this.hints.set(path, style);
      this.tell();
    });
    connection.on('explorer:hint_dismissed', ({ payload }) => {
      this.hints.delete(payload.path);
      this.tell();
    });
    connection.on('explorer:clear_hints', () => {
      this.hints.clear();
      this.tell();
    });
  }

  tell() {
    this.changed.update((n) => n + 1);
  }

  /** @param {Highlight} highlight */
  highlight(highlight) {
    const list = this.highlights.get(highlight.path) ?? [];
    this.highlights.set(highlight.path, [...list, highlight].slice(-HIGHLIGHTS_MAX));
    this.tell();
  }

  /**
   * Takes a highlight away, here and in every other window.
   * @param {Highlight} highlight
   */
  dismissHighlight({ path, start, end }) {
    this.connection.tell('editor:dismiss_highlight', { path, start, end });
    this.drop(path, start, end);
  }

  /** @param {string} path @param {number} start @param {number} end as it was told */
  drop(path, start, end) {
    this.highlights.set(path, (this.highlights.get(path) ?? []).filter((one) => one.start !== start || one.end !== end));
    this.tell();
  }

  /** @param {string} [path] none: of every file */
  clear(path) {
    if (path === undefined) this.highlights.clear();
    else this.highlights.delete(path);
    this.tell();
  }

  /**
   * Takes hints away, here and in every other window.
   * @param {string[]} paths
   */
  dismissHints(paths) {
    for (const path of paths) if (this.hints.delete(path)) this.connection.tell('explorer:dismiss_hint', { path });
    this.tell();
  }

  /**
   * A file has another name: its highlights go with it.
   * @param {string} from
   * @param {string} to
   */
  renamed(from, to) {
    const highlights = this.highlights.get(from);
    if (!highlights) return;
    this.highlights.delete(from);
    for (const highlight of highlights) highlight.path = to;
    this.highlights.set(to, highlights);
    this.tell();
  }
}
