// curves.mjs - how time and memory grow with size: rows of the action log, files of the project, windows, open buffers. Prints a line per
// step. `node tests/bench/curves.mjs [log|files|windows|buffers...]`; PAIGED names another build than build/, TMPDIR decides on which disk.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Daemon } from '../integration/lib/daemon.mjs';
import { Editor } from '../integration/lib/editor.mjs';
import { descendants, pss } from '../integration/lib/processes.mjs';
import { scratch, smallProject } from '../integration/lib/project.mjs';
import { within } from '../integration/lib/wait.mjs';

const ASKED = 7; // times; the median counts
const START_MS = 120_000;
const ACTIONS_OF_SESSION = 1000;

const directories = [];
const kept = (dir) => (directories.push(dir), dir);

async function took(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function median(work) {
  const times = [];
  for (let i = 0; i < ASKED; i += 1) times.push(await took(() => work(i)));
  return times.sort((a, b) => a - b)[ASKED >> 1];
}

const memory = (daemon) => pss([daemon.pid, ...descendants(daemon.pid).map(({ pid }) => pid)]);

function line(what, size, times, daemon) {
  const figures = Object.entries(times).map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`.padEnd(36));
  console.log(`${what.padEnd(8)} ${String(size).padStart(9)}   ${figures.join('')}${(memory(daemon) / 1048576).toFixed(1)} MiB`);
}

/** Starts a daemon, gives it to `work` with the time that it took, and stops it. */
async function withDaemon(options, work) {
  const daemon = new Daemon(options);
  try {
    const ready = await took(() => daemon.start({ ms: START_MS }));
    await work(daemon, ready);
    await daemon.stop();
  } finally {
    daemon.endNow();
    daemon.removeScratch();
  }
}

/** Rows from the number `from` to below `to` of sessions that are over, the latest in this hour. */
function addActions(database, from, to) {
  const numbers = (first, end) => `WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${end})`;
  const session = (i) => `printf('10000000-0000-4000-8000-%012d', ${i})`;
  const time = (i) => `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('-%d seconds', 30 * (1000000 - (${i}))))`;
  const sessions = [Math.ceil(from / ACTIONS_OF_SESSION), Math.ceil(to / ACTIONS_OF_SESSION)];
  const addSessions = `${numbers(...sessions)} INSERT INTO sessions SELECT ${session('i')}, '/project', i + 1, 'Issue', 'completed', ${time(`i * ${ACTIONS_OF_SESSION}`)}, ${time(`i * ${ACTIONS_OF_SESSION} + 999`)} FROM n;`;
  execFileSync('sqlite3', [database, `PRAGMA synchronous = OFF; BEGIN;
    ${sessions[0] < sessions[1] ? addSessions : ''}
    ${numbers(from, to)} INSERT INTO action_log SELECT printf('20000000-0000-4000-8000-%012d', i), ${session(`i / ${ACTIONS_OF_SESSION}`)}, 'file_open', '{"path":"src/main.ts"}', ${time('i')} FROM n;
    COMMIT;`], { stdio: ['ignore', 'ignore', 'inherit'] });
}

const CURVES = {
  async log() {
    const options = { projectDir: kept(smallProject()), dataDir: kept(scratch('data')) };
    let rows = 0;
    await withDaemon(options, () => {});
    for (const size of [10, 100, 1000, 10_000, 100_000, 1_000_000]) {
      addActions(path.join(options.dataDir, 'paige.db'), rows, size);
      rows = size;
      await withDaemon(options, async (daemon, ready) => {
        const editor = await Editor.connect(daemon);
        const dashboard = (statsPeriod) => median(() => editor.ask('dashboard:request', { statsPeriod }, 'dashboard:state'));
        const times = { ready, 'dashboard, week': await dashboard('7d'), 'dashboard, all': await dashboard('all') };
        line('actions', size, { ...times, 'page of the log': await median(() => editor.ask('log:page', {}, 'log:rows')) }, daemon);
        editor.close();
      });
    }
  },

  async files() {
    for (const size of [10, 100, 1000, 10_000, 100_000, 200_000]) {
      const projectDir = kept(scratch('project'));
      for (let i = 0; i < size; i += 1) {
        const dir = path.join(projectDir, `package-${Math.floor(i / 100)}`);
        if (i % 100 === 0) fs.mkdirSync(dir);
        fs.writeFileSync(path.join(dir, `module-${i}.ts`), '');
      }
      await withDaemon({ projectDir, dataDir: kept(scratch('data')) }, async (daemon, ready) => {
        const trees = async () => {
          const editor = await Editor.connect(daemon);
          await editor.next('fs:tree');
          editor.close();
        };
        const first = await took(trees);
        line('files', size, { ready, 'first tree': first, 'later trees': await median(trees) }, daemon);
      });
      fs.rmSync(projectDir, { recursive: true });
    }
  },

  async windows() {
    await withDaemon({ projectDir: kept(smallProject()), dataDir: kept(scratch('data')) }, async (daemon) => {
      const editors = [];
      for (const size of [1, 10, 30, 100]) {
        while (editors.length < size) editors.push(await Editor.connect(daemon));
        const known = (type, payload, answer) => {
          const all = editors.map((editor) => editor.next(answer));
          editors[0].send(type, payload);
          return within('all windows to hear of it', 30_000, Promise.all(all));
        };
        const saved = await median((i) => known('file:save', { path: 'src/main.ts', content: `${size}.${i}\n` }, 'fs:save_ack'));
        const opened = await median(() => known('file:open', { path: 'src/greet.ts' }, 'fs:content'));
        line('windows', size, { 'a save is known to all': saved, 'what a file holds': opened }, daemon);
      }
      for (const editor of editors) editor.close();
    });
  },

  async buffers() {
    await withDaemon({ projectDir: kept(smallProject()), dataDir: kept(scratch('data')) }, async (daemon) => {
      const editor = await Editor.connect(daemon);
      let open = 0;
      for (const size of [1, 10, 100, 1000]) {
        for (; open < size; open += 1) editor.send('buffer:update', { path: `new/file-${open}.ts`, content: `// ${open}\n${'let x = 1;\n'.repeat(400)}` });
        const ask = () => editor.ask('file:open', { path: 'src/greet.ts' }, 'fs:content');
        await ask();
        const opened = await median(ask);
        const edited = await median(async (i) => {
          editor.send('buffer:update', { path: 'new/file-0.ts', content: `// edit ${i}\n` });
          await ask();
        });
        const again = await took(async () => {
          await daemon.kill9('fswatch');
          await ask();
        });
        line('buffers', size, { 'a file is opened': opened, 'an edit before it': edited, 'a new file worker answers': again }, daemon);
      }
      editor.close();
    });
  },
};

const asked = process.argv.slice(2);
for (const name of asked) if (!CURVES[name]) throw new Error(`no curve "${name}": there are ${Object.keys(CURVES).join(', ')}`);
try {
  for (const name of asked.length ? asked : Object.keys(CURVES)) await CURVES[name]();
} finally {
  for (const directory of directories) fs.rmSync(directory, { recursive: true, force: true });
}
