// store.js - a value that tells when it changes.

/** @template T */
export class Value {
  /** @param {T} initial */
  constructor(initial) {
    this.now = initial;
    /** @type {Set<(now: T) => void>} */
    this.listeners = new Set();
  }

  /** @param {T} next */
  set(next) {
    this.now = next;
    for (const listener of [...this.listeners]) listener(next);
  }

  /** @param {(now: T) => T} change */
  update(change) {
    this.set(change(this.now));
  }

  /**
   * Calls at once and after every change.
   * @param {(now: T) => void} listener
   * @returns {() => void} ends it
   */
  watch(listener) {
    this.listeners.add(listener);
    listener(this.now);
    return () => this.listeners.delete(listener);
  }
}
