// files.js - the open files: their texts, what of them is unsaved, and what the disk has. Sends edits to the daemon, again after a
// lost connection.
import { Refused } from './connection.js';
import { Value } from './store.js';
import { Drafts } from './unsaved.js';

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {{version: string, content: string}} OnDisk
 * @typedef {import('./pointers.js').Pointers} Pointers
 */

const TYPING_MS = 150;

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
  /** @param {Connection} connection @param {Pointers} pointers */
  constructor(connection, pointers) {
    this.connection = connection;
    this.pointers = pointers;
    /** @type {Map<string, OpenFile>} */
    this.open = new Map();
    this.current = new Value(/** @type {OpenFile | null} */ (null));
    /** Tells of any change but those of texts; an edit is one only when it makes a file dirty or clean. */
    this.changed = new Value(0);
    this.problem = new Value('');
    /** @type {Map<string, Promise<OpenFile | null>>} */
    this.opening = new Map();
    this.drafts = new Drafts(() => ({ open: this.open.values(), current: this.current.now }));
    this.listen();
  }

  listen() {
    const { connection } = this;
    connection.on('connection:init', () => this.greeted());
    connection.on('fs:content', ({ payload }) => this.loaded(payload.path, payload.language, { version: payload.version, content: payload.content }));
    connection.on('editor:open_file', ({ payload }) => this.show(payload.path));
    connection.on('fs:save_ack', ({ payload }) => this.acknowledged(payload.path, payload.version));
    connection.on('fs:tree_update', ({ payload }) => (payload.action === 'rename' && payload.newPath ? this.renamed(payload.path, payload.newPath) : this.touched(payload.action, payload.path)));
    // The page that comes would begin with what the disk has.
    this.drafts.watchLeaving(() => this.leave());
  }

  tell() {
    for (const file of this.open.values()) file.toldDirty = file.dirty;
    this.changed.update((n) => n + 1);
  }

  /** After each hello: the daemon gets what it may have missed. */
  greeted() {
    for (const file of this.open.values()) {
      if (file.dirty) this.send(file);
      else if (!file.binary) this.look(file.path);
    }
  }

  /**
   * Opens a file that is not on the disk any more, with the text that somebody kept of it.
   * @param {string} path
   * @param {string} text
   */
  enterDeleted(path, text) {
    if (this.open.has(path)) return;
    const file = new OpenFile(path, '', { content: '', version: '' }, false);
    file.missing = true;
    this.drafts.take(path);
    this.enter(file);
    this.replaceText(file, text);
    this.drafts.write();
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
    const draft = this.drafts.take(file.path);
    if (draft && draft.content !== content) {
      this.replaceText(file, draft.content);
      file.base = draft.version;
      file.conflict = draft.version !== version;
    }
    this.drafts.write();
    this.tell();
    return file;
  }

  /** @param {OpenFile} file */
  choose(file) {
    const before = this.current.now;
    if (before === file) return;
    this.current.set(file);
    this.connection.tell('editor:tab_switch', { ...(before && { fromPath: before.path }), toPath: file.path });
    this.drafts.write();
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
    this.drafts.write();
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
    if (!told) this.drafts.write();
    else this.drafts.soon();
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
    this.drafts.write();
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
    this.drafts.write();
    this.tell();
  }

  /** @param {OpenFile} file */
  gone(file) {
    file.missing = true;
  }

  /** @param {OpenFile} file @param {string} path */
  rename(file, path) {
    const from = file.path;
    this.open = new Map([...this.open.values()].map((other) => [other === file ? path : other.path, other]));
    // The file first: its marks stay in the text only as long as its highlights are found under its path.
    file.path = path;
    this.pointers.renamed(from, path);
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

  /** The page is being left: what was typed last goes out. */
  leave() {
    for (const file of this.open.values()) if (file.timer) this.send(file);
    if (this.open.size) this.drafts.write();
  }
}
