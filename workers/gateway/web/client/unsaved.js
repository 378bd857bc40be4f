// unsaved.js - what outlives a page: what it puts into the browser's store for the case of a reload, as tabs and unsaved texts, and how a
// page that begins takes up what an earlier one and the daemon have kept.
import { Refused } from './connection.js';

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {import('./files.js').Files} Files
 * @typedef {import('./files.js').OpenFile} OpenFile
 * @typedef {{path: string, content: string, version: string}} Draft unsaved text that outlives a reload; `version`: what it is based on
 */

/** What the daemon has, too, or what is just being typed, is written this often at most. */
const KEEP_MS = 1000;
/** Drafts together; a browser gives a page about 5 million characters. */
const DRAFTS_MAX = 2000000;
const DRAFTS = 'paige.drafts';
const TABS = 'paige.tabs';
/** What did not come with the state of a session is asked for so often: a file worker that hangs is replaced within a minute. */
const MISSING_TRIES = 12;
const MISSING_AGAIN_MS = 3000;

/**
 * What an earlier page has kept; null when that is nothing, or cannot be read.
 * @param {string} name
 * @returns {any}
 */
export function readKept(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}

/**
 * Throws when the browser's store is full or closed.
 * @param {string} name
 * @param {unknown} value
 */
export function keep(name, value) {
  sessionStorage.setItem(name, JSON.stringify(value));
}

/** Something that a page has in the browser's store. */
export class Kept {
  constructor() {
    /** All of it is in the browser's store, or there is nothing. */
    this.kept = true;
    this.timer = 0;
  }

  /**
   * Puts all of it into the browser's store. False: not all of it could be put there.
   * @returns {boolean}
   */
  put() {
    throw new Error('says what is kept');
  }

  /** Writes it within a second. */
  soon() {
    if (!this.timer) this.timer = window.setTimeout(() => this.write(), KEEP_MS);
  }

  write() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.kept = this.put();
  }

  /**
   * Writes it when the page is left. The browser asks before that when it cannot all be kept.
   * @param {() => void} [before] what is to be done first
   */
  watchLeaving(before = () => this.write()) {
    window.addEventListener('pagehide', before);
    window.addEventListener('beforeunload', (event) => {
      before();
      if (!this.kept) event.preventDefault();
    });
  }
}

/** @returns {Map<string, Draft>} */
function readDrafts() {
  const list = readKept(DRAFTS);
  return new Map((Array.isArray(list) ? list : []).filter((/** @type {Draft} */ draft) => typeof draft?.path === 'string' && typeof draft.content === 'string').map((/** @type {Draft} */ draft) => [draft.path, draft]));
}

/** @returns {{tabs: string[], current: string}} */
function readTabs() {
  const { tabs, current } = readKept(TABS) ?? {};
  return { tabs: Array.isArray(tabs) ? tabs.filter((path) => typeof path === 'string') : [], current: typeof current === 'string' ? current : '' };
}

/** Tabs and unsaved texts in the browser's store, for the case of a reload. */
export class Drafts extends Kept {
  /** @param {() => {open: Iterable<OpenFile>, current: OpenFile | null}} now what is to be kept */
  constructor(now) {
    super();
    this.now = now;
    /** Those of an earlier page that have not been taken up. */
    this.earlier = readDrafts();
    /** What an earlier page had open. */
    this.tabs = readTabs();
  }

  /**
   * The draft of an earlier page, once.
   * @param {string} path
   */
  take(path) {
    const draft = this.earlier.get(path);
    this.earlier.delete(path);
    return draft;
  }

  put() {
    const { open, current } = this.now();
    let left = DRAFTS_MAX;
    const drafts = [...this.earlier.values()];
    const tabs = [];
    for (const file of open) {
      tabs.push(file.path);
      if (!file.dirty) continue;
      const content = file.text;
      left -= content.length;
      if (left >= 0) drafts.push({ path: file.path, content, version: file.base });
    }
    try {
      keep(DRAFTS, drafts);
      keep(TABS, { tabs, current: current?.path ?? '' });
      return left >= 0;
    } catch {
      // The browser's store is full or closed: the daemon still has the text.
      return drafts.length === this.earlier.size;
    }
  }
}

/** Opens what an earlier page had open, and what the daemon has unsaved. */
export class Restorer {
  /** @param {Files} files @param {Connection} connection */
  constructor(files, connection) {
    this.files = files;
    this.connection = connection;
    this.begun = false;
    /** What is missing is being asked for. */
    this.askingAgain = false;
    connection.on('connection:init', ({ payload }) => this.begin(payload.sessionId));
    connection.on('session:resumed', ({ payload }) => payload.incomplete && this.readMissing());
  }

  /**
   * With the first connection of a page. What is unsaved of a session the daemon tells by itself.
   * @param {string | null} sessionId
   */
  async begin(sessionId) {
    if (this.begun) return;
    this.begun = true;
    const { earlier, tabs } = this.files.drafts;
    for (const path of new Set([...tabs.tabs, ...earlier.keys()])) await this.files.load(path).catch((error) => this.offer(path, error, earlier.get(path)?.content));
    if (this.files.open.has(tabs.current) && !this.files.current.now) this.files.show(tabs.current);
    if (!sessionId) await this.readUnsaved();
  }

  /**
   * Opens what is unsaved, wherever it was typed. False: not all of it could be had.
   * @param {('open_files' | 'buffers' | 'diffs')[]} [include]
   * @returns {Promise<boolean>}
   */
  async readUnsaved(include = ['buffers', 'diffs']) {
    /** @type {string | undefined} */
    let after;
    do {
      const answer = await this.connection.ask('buffers:request', { include, ...(after !== undefined && { after }) }, ['buffers:state']).catch(() => null);
      if (!answer) return false;
      await this.restored(answer.payload);
      after = answer.payload.next;
    } while (after !== undefined);
    return true;
  }

  /** The state of a session came without all that the file worker has, which was away or busy: that passes. */
  async readMissing() {
    if (this.askingAgain) return;
    this.askingAgain = true;
    let read = await this.readUnsaved(['open_files', 'buffers', 'diffs']);
    for (let i = 1; !read && i < MISSING_TRIES; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, MISSING_AGAIN_MS));
      read = await this.readUnsaved(['open_files', 'buffers', 'diffs']);
    }
    this.askingAgain = false;
    if (!read) this.files.problem.set('Unsaved text that Paige has kept could not be read. Reload the page to try again.');
  }

  /**
   * Open files and unsaved texts that the daemon has kept.
   * @param {Pick<import('../../../../proto/docs/paige').SessionState, 'open_files' | 'buffers' | 'diffs'>} state
   */
  async restored({ open_files: open = [], buffers = [], diffs = [] }) {
    const { files } = this;
    const texts = new Map(buffers.map(({ path, content }) => [path, content]));
    for (const path of open) await files.load(path).catch(() => null);
    for (const { path } of diffs) await files.load(path).catch((error) => this.offer(path, error, texts.get(path)));
    for (const { path, content, dirty, conflict } of buffers) {
      const file = files.open.get(path);
      if (!dirty || !file || file.dirty || content === undefined || content === file.text) continue;
      files.replaceText(file, content);
      // What it was based on is known to nobody, but is not what the disk has.
      if (conflict) Object.assign(file, { base: '', conflict });
    }
    files.tell();
    if (!files.current.now) {
      const [first] = files.open.keys();
      if (first) files.show(first);
    }
  }

  /**
   * Opens the unsaved text of a file that was deleted on the disk: nobody else has it any more.
   * @param {string} path
   * @param {unknown} error why the file could not be opened
   * @param {string | undefined} text
   */
  offer(path, error, text) {
    if (error instanceof Refused && error.missing && text) this.files.enterDeleted(path, text);
  }
}
