// conversation.mjs - what the scripted agent keeps of a session, in the file where Claude Code would.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Claude Code writes with a delay: a program that is killed before knows nothing of its last prompt. */
const FLUSH_MS = 50;

export const INTERRUPTED = 'interrupted';

export class Conversation {
  /** Of a session in a folder; `home` is whose home directory it is kept in. */
  constructor(folder, id, home = os.homedir()) {
    this.id = id;
    this.directory = path.join(home, '.claude', 'projects', folder.replaceAll(/[^a-zA-Z0-9]/g, '-'));
    this.file = path.join(this.directory, `${id}.jsonl`);
    this.waiting = '';
  }

  exists() {
    return fs.existsSync(this.file);
  }

  /** Takes the session for a process; the pid of another one that is in it, or null. */
  occupy(pid) {
    fs.mkdirSync(this.directory, { recursive: true });
    const mark = path.join(this.directory, `${this.id}.pid`);
    const other = fs.existsSync(mark) ? Number(fs.readFileSync(mark, 'utf8')) : 0;
    if (other && fs.existsSync(`/proc/${other}`)) return other;
    fs.writeFileSync(mark, String(pid));
    return null;
  }

  ask(text) {
    this.#add('user', text);
    setTimeout(() => this.#flush(), FLUSH_MS);
  }

  answer(text) {
    this.#add('assistant', text);
    this.#flush();
  }

  #add(role, content) {
    this.waiting += `${JSON.stringify({ type: role, sessionId: this.id, message: { role, content } })}\n`;
  }

  #flush() {
    if (this.waiting) fs.appendFileSync(this.file, this.waiting);
    this.waiting = '';
  }

  /** [{asked, answer}], in order; without an answer when the turn was cut. */
  turns() {
    const turns = [];
    const text = this.exists() ? fs.readFileSync(this.file, 'utf8') : '';
    for (const line of text.split('\n').filter(Boolean)) {
      const { role, content } = JSON.parse(line).message;
      if (role === 'user') turns.push({ asked: content });
      else turns.at(-1).answer = content;
    }
    return turns;
  }

  /** [asked, answer] of the turns that came to their end. What it answered about itself is left out. */
  answered() {
    return this.turns()
      .filter(({ asked, answer }) => answer !== undefined && answer !== INTERRUPTED && !/^(where|recall)/.test(asked))
      .map(({ asked, answer }) => [asked, answer]);
  }
}
