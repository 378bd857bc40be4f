// transcript.mjs PROJECT_DIR [EDITED SHOWN] - does the main job on a copy of a real project and prints what passed between
// the learner's editor, Claude and the daemon. scripts/transcript calls it.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { WORKERS, Daemon } from './lib/daemon.mjs';
import { Editor } from './lib/editor.mjs';
import { mainJob } from './lib/main-job.mjs';
import { Mcp } from './lib/mcp.mjs';
import { copyOfProject, scratch } from './lib/project.mjs';

const [source, ...files] = process.argv.slice(2);
const tracked = execFileSync('git', ['-C', source, 'ls-files'], { encoding: 'utf8' }).trim().split('\n');
const [edited, shown] = files.length === 2 ? files : choose(tracked);

/** Two source files of some lines each: the one to work on, and one to be pointed to. */
function choose(names) {
  const good = names.filter((name) => /\.(c|h|ts|js|mjs|py|go|rs|java|md)$/.test(name) && fs.readFileSync(path.join(source, name), 'utf8').split('\n').length > 10);
  if (good.length < 2) throw new Error(`${source} has no two text files to work on; name them: transcript PROJECT_DIR EDITED SHOWN`);
  return [good[0], good[good.length - 1]];
}

function indented(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return text.trimEnd().split('\n').map((line) => `    ${line}`).join('\n');
}

const projectDir = copyOfProject(source);
const dataDir = scratch('data');
const daemon = new Daemon({ projectDir, dataDir });
try {
  const began = Date.now();
  await daemon.start();
  console.log(`paiged is ready after ${Date.now() - began} ms, coaching on a copy of a project of ${tracked.length} files.\n`);
  const editor = await Editor.connect(daemon);
  const mcp = await Mcp.connect(daemon);
  for (const [number, step] of mainJob({ daemon, editor, mcp, edited, shown }).entries()) {
    // In the second half each worker dies once, before a step: nothing of it may show.
    const victim = number >= 6 ? WORKERS[number - 6] : undefined;
    if (victim) await daemon.kill9(victim);
    const result = await step.run();
    console.log(`${number + 1}. ${step.title}${victim ? ` (${victim} was just killed with -9)` : ''}\n${indented(result)}\n`);
  }
  await daemon.healthy();
  editor.close();
  await mcp.close();
  await daemon.stop();
  console.log('The daemon was stopped and left no process behind.');
} finally {
  daemon.endNow();
  daemon.removeScratch();
  for (const directory of [projectDir, dataDir]) fs.rmSync(directory, { recursive: true, force: true });
}
