// idle_daemons.mjs - many daemons that start at once, each with a learner and a project of its own, and then have nothing to do. Prints how
// long it took until all were ready, what memory they take (PSS: what processes share is counted once) and what share of one processor.
// `node tests/bench/idle_daemons.mjs [DAEMONS [SECONDS]]`; PAIGED names another build than build/.
import fs from 'node:fs';
import { Daemon } from '../integration/lib/daemon.mjs';
import { cpuSeconds, descendants, pss } from '../integration/lib/processes.mjs';
import { scratch, smallProject } from '../integration/lib/project.mjs';
import { sleep } from '../integration/lib/wait.mjs';

const COUNT = Number(process.argv[2] ?? 50);
const SECONDS = Number(process.argv[3] ?? 60);
/** All of them begin at once, so each has to wait for the others. */
const START_MS = 30_000 + COUNT * 3_000;
/** What was begun at the start is over by then, and the buses are at rest (REST_MS in common/bus/bus.c). */
const SETTLE_MS = 45_000;

const pids = (daemon) => [daemon.pid, ...descendants(daemon.pid).map(({ pid }) => pid)];

const mib = (bytes) => (bytes / 1048576).toFixed(1);

const directories = [];
const daemons = Array.from({ length: COUNT }, () => {
  directories.push(smallProject(), scratch('data'));
  return new Daemon({ projectDir: directories.at(-2), dataDir: directories.at(-1) });
});
try {
  const began = performance.now();
  await Promise.all(daemons.map((daemon) => daemon.start({ ms: START_MS })));
  const ready = (performance.now() - began) / 1000;
  await sleep(SETTLE_MS);
  const all = daemons.flatMap(pids);
  const memory = pss(all);
  const from = performance.now(), before = cpuSeconds(all);
  await sleep(SECONDS * 1000);
  const share = (100 * (cpuSeconds(all) - before)) / ((performance.now() - from) / 1000);
  const restarted = daemons.flatMap(pids).filter((pid) => !all.includes(pid)).length;
  console.log(`${COUNT} daemons, ${all.length} processes: all ready after ${ready.toFixed(1)} s   ${mib(memory)} MiB, ${mib(memory / COUNT)} each   ${share.toFixed(2)} % of a processor, ${(share / COUNT).toFixed(3)} each   ${restarted} restarted`);
  await Promise.all(daemons.map((daemon) => daemon.stop()));
} finally {
  for (const daemon of daemons) {
    daemon.endNow();
    daemon.removeScratch();
  }
  for (const directory of directories) fs.rmSync(directory, { recursive: true, force: true });
}
