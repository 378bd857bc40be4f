// database.mjs - activities that become rows, and another process that has the database open.
import { spawn } from 'node:child_process';
import { until } from './wait.mjs';

/** A daemon, and an editor with a coaching session. */
export async function coached(t, options) {
  const daemon = await t.daemon(options);
  const editor = await t.editor(daemon);
  await editor.ask('session:start', { issueNumber: 1 }, 'session:started');
  return { daemon, editor };
}

/** Activities with the numbers from `from` to below `to`. */
export const tabs = (editor, from, to) => {
  for (let i = from; i < to; i += 1) editor.send('editor:tab_switch', { fromPath: 'a', toPath: `${i}` });
};
/** The numbers that are in the log. */
export const logged = async (daemon) => (await daemon.actions('tab_switch')).map((row) => Number(row.data.toPath));
export const upTo = (n) => Array.from({ length: n }, (_, i) => i);

/** Another process that has the database open and does as it is told. */
export class Sqlite {
  constructor(file) {
    this.child = spawn('sqlite3', [file], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.text = '';
    this.child.stdout.setEncoding('utf8').on('data', (text) => (this.text += text));
    this.n = 0;
  }

  async run(sql) {
    this.n += 1;
    this.child.stdin.write(`${sql};\nSELECT 'done ${this.n}';\n`);
    await until(`sqlite3 to have run ${sql}`, () => this.text.includes(`done ${this.n}\n`), { every: 10 });
  }

  close() {
    this.child.stdin.end();
    this.child.kill();
  }
}
