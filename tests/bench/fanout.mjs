// fanout.mjs - what a window waits for a broadcast while 50 others are sent the same and one of them reads nothing. Each
// round one window opens a file, whose content all windows get. Prints the median and the 99th percentile in
// milliseconds, and how many messages were lost. `node tests/bench/fanout.mjs [ROUNDS]`
import { Daemon } from '../integration/lib/daemon.mjs';
import { scratch, smallProject } from '../integration/lib/project.mjs';
import { RawWebSocket, TEXT } from '../integration/lib/raw-websocket.mjs';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const ROUNDS = Number(process.argv[2] ?? 400);
const WINDOWS = 50;
const FILES = 100;
const PAUSE_MS = 15;

const text = 'export const value = 1;\n'.repeat(80);
const files = Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`src/f${i}.ts`, text]));
const directories = [smallProject(files), scratch('data')];
const daemon = new Daemon({ projectDir: directories[0], dataDir: directories[1] });
try {
  await daemon.start();
  const stalled = await RawWebSocket.open(daemon);
  stalled.socket.pause();
  const windows = await Promise.all(Array.from({ length: WINDOWS }, () => RawWebSocket.open(daemon)));
  await sleep(500); // what every window is told at first
  const sent = [], times = [];
  for (const window of windows) {
    let seen = window.frames.length, round = 0;
    window.socket.on('data', () => {
      const now = performance.now();
      for (; seen < window.frames.length; seen += 1) {
        const { opcode, payload } = window.frames[seen];
        if (opcode === TEXT && payload.includes('"fs:content"')) times.push(now - sent[round++]);
      }
    });
  }
  for (let i = 0; i < ROUNDS; i += 1) {
    sent.push(performance.now());
    windows[i % WINDOWS].message('file:open', { path: `src/f${i % FILES}.ts` });
    await sleep(PAUSE_MS);
  }
  await sleep(1000);
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor((times.length - 1) * share)].toFixed(2);
  console.log(`${WINDOWS} windows and one that reads nothing: p50 ${at(0.5)} ms   p99 ${at(0.99)} ms   most ${at(1)} ms   lost ${ROUNDS * WINDOWS - times.length} of ${ROUNDS * WINDOWS}`);
  for (const window of [stalled, ...windows]) window.socket.destroy();
  await daemon.stop();
} finally {
  daemon.endNow();
  daemon.removeScratch();
  for (const directory of directories) fs.rmSync(directory, { recursive: true, force: true });
}
