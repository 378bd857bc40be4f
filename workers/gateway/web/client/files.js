// files.js - the open files: their texts, what of them is unsaved, and what the disk has. Sends edits to the daemon and keeps
// them until it has them, also over a lost connection and a reload.
import { Refused } from './connection.js';
import { Value } from './store.js';

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {{version: string, content: string}} OnDisk
 * @typedef {{path: string, start: number, end: number, style: string, hoverText?: string}} Highlight
 * @typedef {{path: string, content: string, version: string}} Draft unsaved text that outlives a reload
 */

const TYPING_MS = 150;
/** Unsaved texts that the daemon has are written into the browser's store this often at most. */
const KEEP_MS = 1000;
/** Drafts together; a browser gives a page about 5 million characters. */
const DRAFTS_MAX = 2000000;
const DRAFTS = 'paige.drafts';
const TABS = 'paige.tabs';
const HIGHLIGHTS_MAX = 200;
/** What did not come with the state of a session is asked for so often: a file worker that hangs is replaced within a minute. */
const MISSING_TRIES = 12;
const MISSING_AGAIN_MS = 3000;

const modes = /** @type {Record<string, string>} */ ({
  javascript: 'javascript', javascriptreact: 'javascript', typescript: 'text/typescript', typescriptreact: 'text/typescript', json: 'application/json', jsonc: 'application/json',
  c: 'text/x-csrc', cpp: 'text/x-c++src', csharp: 'text/x-csharp', java: 'text/x-java', kotlin: 'text/x-kotlin', scala: 'text/x-scala',
  python: 'python', ruby: 'ruby', rust: 'rust', go: 'go', css: 'css', scss: 'text/x-scss', less: 'text/x-less', html: 'htmlmixed', xml: 'xml', svg: 'xml',
  markdown: 'markdown', yaml: 'yaml', toml: 'toml', shellscript: 'shell', shell: 'shell', sql: 'text/x-sql', ini: 'properties', properties: 'properties',
});

/**
 * The line end of a text whose line ends are all the same; "\n" else, which keeps every character.
 * @param {string} text
 */
function lineEnd(text) {
  return text.includes('\r\n') && !/(^|[^\r])\n|\r(?!\n)/.test(text) ? '\r\n' : '\n';
}

export class OpenFile {
  /** @param {string} path @param {string} language @param {OnDisk} disk @param {boolean} binary */
  constructor(path, language, disk, binary) {
    this.path = path;
    this.language = language;
    this.binary = binary;
    this.disk = disk;
    /** The version that the text is based on. */
    this.base = disk.version;
    this.conflict = false;
    /** It was deleted on the disk. */
    this.missing = false;
    this.saving = false;
    /** The daemon was given a text of it. */
    this.told = false;
    /** What `changed` told last of `dirty`. */
    this.toldDirty = false;
    this.timer = 0;
    this.doc = CodeMirror.Doc(disk.content, this.mode, 0, lineEnd(disk.content));
    this.clean = this.doc.changeGeneration(true);
    /** @type {{highlight: Highlight, clear(): void}[]} */
    this.marks = [];
  }

  get text() {
    return this.doc.getValue();
  }

  /** What the editor calls the language; null for plain text. */
  get mode() {
    return modes[this.language] ?? null;
  }

  get dirty() {
    return !this.binary && !this.doc.isClean(this.clean);
  }

  /**
   * The text is what the disk has.
   * @param {string} version
   */
  settled(version) {
    this.base = version;
    this.conflict = false;
    this.missing = false;
  }
}

export class Files {
  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    /** @type {Map<string, OpenFile>} */
    this.open = new Map();
    this.current = new Value(/** @type {OpenFile | null} */ (null));
    /** Tells of any change but those of texts; an edit is one only when it makes a file dirty or clean. */
    this.changed = new Value(0);
    this.problem = new Value('');
    /** @type {Map<string, Highlight[]>} */
    this.highlights = new Map();
    /** @type {Map<string, string>} */
    this.hints = new Map();
    /** @type {Map<string, Promise<OpenFile | null>>} */
    this.opening = new Map();
    /** The unsaved texts are in the browser's store, or there are none. */
    this.kept = true;
    this.keeping = 0;
    /** What is missing is being asked for. */
    this.askingAgain = false;
    this.drafts = readDrafts();
    /** What is to be opened once there is a connection; null: it was. */
    this.wanted = /** @type {ReturnType<typeof readTabs> | null} */ (readTabs());
    this.listen();
  }

  listen() {
    const { connection } = this;
    connection.on('connection:init', ({ payload }) => this.greeted(payload.sessionId));
    connection.on('session:resumed', ({ payload }) => payload.incomplete && this.readMissing());
    connection.on('fs:content', ({ payload }) => this.loaded(payload.path, payload.language, { version: payload.version, content: payload.content }));
    connection.on('editor:open_file', ({ payload }) => this.show(payload.path));
    connection.on('fs:save_ack', ({ payload }) => this.acknowledged(payload.path, payload.version));
    connection.on('fs:tree_update', ({ payload }) => (payload.action === 'rename' && payload.newPath ? this.renamed(payload.path, payload.newPath) : this.touched(payload.action, payload.path)));
    connection.on('editor:highlight_lines', ({ payload }) => this.highlight(payload));
    connection.on('editor:clear_highlights', ({ payload }) => this.clearHighlights(payload.path));
    connection.on('explorer:hint_files', ({ payload }) => {
      for (const { path, style } of payload.hints) this.hints.set(path, style);
      this.tell();
    });
    connection.on('editor:highlight_dismissed', ({ payload: { path, start, end } }) => this.dropHighlight(path, start, end));
    connection.on('explorer:hint_dismissed', ({ payload }) => {
      this.hints.delete(payload.path);
      this.tell();
    });
    connection.on('explorer:clear_hints', () => {
      this.hints.clear();
      this.tell();
    });
    window.addEventListener('pagehide', () => this.leave());
    window.addEventListener('beforeunload', (event) => {
      this.leave();
      // The browser asks: the page that comes would begin with what the disk has.
      if (!this.kept) event.preventDefault();
    });
  }

  tell() {
    for (const file of this.open.values()) file.toldDirty = file.dirty;
    this.changed.update((n) => n + 1);
  }

  /**
   * After each hello: the daemon gets what it may have missed. A page that begins opens what an earlier one had open, and what the
   * daemon has unsaved, which of a session it tells by itself.
   * @param {string | null} sessionId
   */
  async greeted(sessionId) {
    for (const file of this.open.values()) {
      if (file.dirty) this.send(file);
      else if (!file.binary) this.look(file.path);
    }
    const { wanted } = this;
    this.wanted = null;
    if (!wanted) return;
    await this.restore([...new Set([...wanted.tabs, ...this.drafts.keys()])], wanted.current);
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
    if (!read) this.problem.set('Unsaved text that Paige has kept could not be read. Reload the page to try again.');
  }

  /** @param {string[]} paths @param {string} current */
  async restore(paths, current) {
    for (const path of paths) await this.load(path).catch((error) => this.offer(path, error, this.drafts.get(path)?.content));
    if (this.open.has(current) && !this.current.now) this.show(current);
  }

  /**
   * Open files and unsaved texts that the daemon has kept.
   * @param {Pick<import('../../../../proto/docs/paige').SessionState, 'open_files' | 'buffers' | 'diffs'>} state
   */
  async restored({ open_files: open = [], buffers = [], diffs = [] }) {
    const texts = new Map(buffers.map(({ path, content }) => [path, content]));
    for (const path of open) await this.load(path).catch(() => null);
    for (const { path } of diffs) await this.load(path).catch((error) => this.offer(path, error, texts.get(path)));
    for (const { path, content, dirty, conflict } of buffers) {
      const file = this.open.get(path);
      if (!dirty || !file || file.dirty || content === undefined || content === file.text) continue;
      this.replaceText(file, content);
      // What it was based on is known to nobody, but is not what the disk has.
      if (conflict) Object.assign(file, { base: '', conflict });
    }
    this.tell();
    if (!this.current.now) {
      const [first] = this.open.keys();
      if (first) this.show(first);
    }
  }

  /**
   * Opens the unsaved text of a file that was deleted on the disk: nobody else has it any more.
   * @param {string} path
   * @param {unknown} error why the file could not be opened
   * @param {string | undefined} text
   */
  offer(path, error, text) {
    if (!(error instanceof Refused && error.missing) || !text || this.open.has(path)) return;
    const file = new OpenFile(path, '', { content: '', version: '' }, false);
    file.missing = true;
    this.drafts.delete(path);
    this.enter(file);
    this.replaceText(file, text);
    this.keep();
    this.tell();
  }

  /** @param {OpenFile} file */
  enter(file) {
    this.open.set(file.path, file);
    file.doc.on('change', () => this.edited(file));
  }

  /**
   * Opens a file and makes it the current one.
   * @param {string} path
   */
  async show(path) {
    try {
      const file = await this.load(path);
      if (file) this.choose(file);
      this.problem.set('');
    } catch (error) {
      this.problem.set(`${path} could not be opened: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** @param {string} path @returns {Promise<OpenFile | null>} */
  load(path) {
    const file = this.open.get(path);
    if (file) return Promise.resolve(file);
    let load = this.opening.get(path);
    if (!load) {
      load = this.fetch(path).finally(() => this.opening.delete(path));
      this.opening.set(path, load);
    }
    return load;
  }

  /** @param {string} path */
  async fetch(path) {
    const { payload } = await this.connection.ask('file:open', { path }, ['fs:content']);
    const { content, version, language, binary } = payload;
    const already = this.open.get(payload.path);
    if (already) return already;
    const file = new OpenFile(payload.path, language, { content, version }, binary === true);
    this.enter(file);
    const draft = this.drafts.get(file.path);
    this.drafts.delete(file.path);
    if (draft && draft.content !== content) {
      this.replaceText(file, draft.content);
      file.base = draft.version;
      file.conflict = draft.version !== version;
    }
    this.keep();
    this.tell();
    return file;
  }

  /** @param {OpenFile} file */
  choose(file) {
    const before = this.current.now;
    if (before === file) return;
    this.current.set(file);
    this.connection.tell('editor:tab_switch', { ...(before && { fromPath: before.path }), toPath: file.path });
    this.keep();
    this.tell();
  }

  /** @param {OpenFile} file */
  close(file) {
    const order = [...this.open.values()];
    const next = order[order.indexOf(file) + 1] ?? order[order.indexOf(file) - 1] ?? null;
    clearTimeout(file.timer);
    // Else the daemon keeps what somebody has just given up, and the next page opens it.
    if (file.dirty || (file.missing && file.told)) this.connection.tell('buffer:update', { path: file.path, content: file.missing ? '' : file.disk.content });
    this.open.delete(file.path);
    this.connection.tell('file:close', { path: file.path });
    if (this.current.now === file) {
      this.current.set(null);
      if (next) this.choose(next);
    }
    this.keep();
    this.tell();
  }

  /** @param {OpenFile} file @param {string} text */
  replaceText(file, text) {
    const { line, ch } = file.doc.getCursor();
    const last = file.doc.lastLine();
    file.doc.replaceRange(text, { line: 0, ch: 0 }, { line: last, ch: file.doc.getLine(last).length });
    file.doc.setCursor(line, ch);
  }

  /** @param {OpenFile} file */
  edited(file) {
    clearTimeout(file.timer);
    file.timer = window.setTimeout(() => this.send(file), TYPING_MS);
    // Whoever listens draws tabs, tree and toolbar anew, which is too much for each key.
    if (file.dirty !== file.toldDirty) this.tell();
  }

  /** @param {OpenFile} file */
  send(file) {
    clearTimeout(file.timer);
    file.timer = 0;
    const { line, ch } = file.doc.getCursor();
    const told = this.connection.tell('buffer:update', { path: file.path, content: file.text, cursorPosition: { line: line + 1, column: ch + 1 } });
    if (told) file.told = true;
    if (!told) this.keep();
    else if (!this.keeping) this.keeping = window.setTimeout(() => this.keep(), KEEP_MS);
  }

  /** @param {OpenFile} file @param {{force?: boolean}} [options] force: whatever the disk has now is replaced */
  async save(file, options) {
    // What was deleted has no version to be held against: saving it makes it anew.
    const force = options?.force === true || file.missing;
    if (file.binary || file.saving) return;
    clearTimeout(file.timer);
    file.saving = true;
    this.tell();
    const content = file.text;
    const generation = file.doc.changeGeneration(true);
    try {
      const { type, payload } = await this.connection.ask('file:save', { path: file.path, content, ...(!force && { baseVersion: file.base }) }, ['fs:save_ack', 'fs:save_error'], { ms: 30000 });
      if (type === 'fs:save_ack') {
        file.clean = generation;
        file.disk = { content, version: /** @type {{version: string}} */ (payload).version };
        file.settled(file.disk.version);
        this.problem.set('');
      } else this.notSaved(file, /** @type {import('../../../../proto/docs/paige').FsSaveError} */ (payload));
    } catch (error) {
      this.problem.set(`${file.path} was not saved: ${error instanceof Error ? error.message : error}`);
    }
    file.saving = false;
    this.keep();
    this.tell();
  }

  /** @param {OpenFile} file @param {{error: string, code?: string}} payload */
  notSaved(file, { error, code }) {
    if (code === 'CONFLICT') {
      file.conflict = true;
      this.look(file.path);
    } else this.problem.set(`${file.path} was not saved: ${error}`);
  }

  /**
   * Another window has saved it.
   * @param {string} path
   * @param {string} version
   */
  acknowledged(path, version) {
    const file = this.open.get(path);
    if (file && !file.saving && file.disk.version !== version) this.look(path);
  }

  /**
   * Asks what the disk has; the answer comes to `loaded`.
   * @param {string} path
   */
  look(path) {
    this.connection.ask('file:open', { path }, ['fs:content']).catch((error) => {
      const file = this.open.get(path);
      if (file && error instanceof Refused && error.missing) file.missing = true;
      this.tell();
    });
  }

  /** @param {string} path @param {string} language @param {OnDisk} disk */
  loaded(path, language, disk) {
    const file = this.open.get(path);
    if (!file || file.binary || file.saving) return;
    file.disk = disk;
    file.language = language;
    file.missing = false;
    if (disk.version === file.base) file.conflict = false;
    else if (file.dirty && disk.content !== file.text) file.conflict = true;
    else this.take(file);
    this.tell();
  }

  /**
   * The text of the disk in place of ours.
   * @param {OpenFile} file
   */
  take(file) {
    if (file.text !== file.disk.content) this.replaceText(file, file.disk.content);
    clearTimeout(file.timer);
    file.clean = file.doc.changeGeneration(true);
    file.settled(file.disk.version);
    this.send(file);
    this.tell();
  }

  /**
   * A file or directory has another name. What is open of it goes with it, with what is unsaved.
   * @param {string} from
   * @param {string} to
   */
  renamed(from, to) {
    const under = (/** @type {string} */ path) => path === from || path.startsWith(`${from}/`);
    const moved = [...this.open.values()].filter((file) => under(file.path));
    if (!moved.length) return this.touched('change', to);
    const old = new Set([...this.open.keys()]);
    for (const file of moved) {
      const path = to + file.path.slice(from.length);
      this.connection.tell('file:close', { path: file.path });
      // An open file of the new name was replaced on the disk by this one, as editors save: it stays what it is.
      if (old.has(path)) this.gone(file);
      else this.rename(file, path);
    }
    this.touched('change', to);
    if (this.current.now) this.current.set(this.current.now);
    this.keep();
    this.tell();
  }

  /** @param {OpenFile} file */
  gone(file) {
    file.missing = true;
  }

  /** @param {OpenFile} file @param {string} path */
  rename(file, path) {
    const highlights = this.highlights.get(file.path);
    this.highlights.delete(file.path);
    if (highlights) for (const highlight of highlights) highlight.path = path;
    if (highlights) this.highlights.set(path, highlights);
    this.open = new Map([...this.open.values()].map((other) => [other === file ? path : other.path, other]));
    file.path = path;
    if (file.dirty) this.send(file);
    this.look(path);
  }

  /** @param {string} action @param {string} path */
  touched(action, path) {
    const file = this.open.get(path);
    if (!file) return;
    if (action === 'unlink') {
      this.gone(file);
      this.tell();
    } else if (action === 'change' || action === 'add') this.look(path);
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
    this.dropHighlight(path, start, end);
  }

  /** @param {string} path @param {number} start @param {number} end as it was told */
  dropHighlight(path, start, end) {
    const is = (/** @type {Highlight} */ one) => one.start === start && one.end === end;
    const file = this.open.get(path);
    if (file) {
      for (const mark of file.marks) if (is(mark.highlight)) mark.clear();
      file.marks = file.marks.filter((mark) => !is(mark.highlight));
    }
    this.highlights.set(path, (this.highlights.get(path) ?? []).filter((one) => !is(one)));
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

  /** @param {string} [path] */
  clearHighlights(path) {
    for (const file of this.open.values()) if (path === undefined || path === file.path) for (const mark of file.marks.splice(0)) mark.clear();
    if (path === undefined) this.highlights.clear();
    else this.highlights.delete(path);
    this.tell();
  }

  /** Keeps tabs and unsaved texts for the case of a reload. */
  keep() {
    clearTimeout(this.keeping);
    this.keeping = 0;
    let left = DRAFTS_MAX;
    /** @type {Draft[]} */
    const drafts = [...this.drafts.values()];
    for (const file of this.open.values()) {
      if (!file.dirty) continue;
      const content = file.text;
      left -= content.length;
      if (left >= 0) drafts.push({ path: file.path, content, version: file.base });
    }
    try {
      sessionStorage.setItem(DRAFTS, JSON.stringify(drafts));
      sessionStorage.setItem(TABS, JSON.stringify({ tabs: [...this.open.keys()], current: this.current.now?.path ?? '' }));
      this.kept = left >= 0;
    } catch {
      // The browser's store is full or closed: the daemon still has the text.
      this.kept = drafts.length === this.drafts.size;
    }
  }

  /** The page is being left: what was typed last goes out. */
  leave() {
    for (const file of this.open.values()) if (file.timer) this.send(file);
    if (this.open.size) this.keep();
  }
}

/** @returns {Map<string, Draft>} */
function readDrafts() {
  try {
    const list = JSON.parse(sessionStorage.getItem(DRAFTS) ?? '[]');
    return new Map(list.filter((/** @type {Draft} */ draft) => typeof draft?.path === 'string' && typeof draft.content === 'string').map((/** @type {Draft} */ draft) => [draft.path, draft]));
  } catch {
    return new Map();
  }
}

/** @returns {{tabs: string[], current: string}} */
function readTabs() {
  try {
    const { tabs, current } = JSON.parse(sessionStorage.getItem(TABS) ?? '{}');
    return { tabs: Array.isArray(tabs) ? tabs.filter((path) => typeof path === 'string') : [], current: typeof current === 'string' ? current : '' };
  } catch {
    return { tabs: [], current: '' };
  }
}
