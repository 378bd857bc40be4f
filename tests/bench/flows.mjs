// flows.mjs - what Paige adds to the time of Claude: explanations and coaching pipelines against the script of paige-demo,
// which answers at once. Prints medians and 99th percentiles in milliseconds. `node tests/bench/flows.mjs [RUNS]`
import { Claude } from '../integration/lib/claude.mjs';
import { Daemon } from '../integration/lib/daemon.mjs';
import { Editor } from '../integration/lib/editor.mjs';
import { Mcp } from '../integration/lib/mcp.mjs';
import { QUESTION, scratch, smallProject } from '../integration/lib/project.mjs';
import fs from 'node:fs';

const RUNS = Number(process.argv[2] ?? 200);

function report(what, times) {
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(2);
  console.log(`${what.padEnd(36)} p50 ${at(0.5).padStart(7)} ms   p99 ${at(0.99).padStart(7)} ms   (${times.length})`);
}

async function timed(times, job) {
  const before = performance.now();
  await job();
  times.push(performance.now() - before);
}

const claude = await Claude.start();
const directories = [smallProject(), scratch('data')];
const daemon = new Daemon({ projectDir: directories[0], dataDir: directories[1], env: { ANTHROPIC_BASE_URL: claude.script, MEMORY: 'embedded' } });
let editor, mcp;
try {
  await daemon.start();
  editor = await Editor.connect(daemon);
  mcp = await Mcp.connect(daemon);
  editor.send('session:start', { issueNumber: 7, issueTitle: 'Greet nobody' });
  await editor.next('session:started');
  const times = { explain: [], pipeline: [] };
  const ask = async () => {
    editor.send('user:explain', QUESTION);
    const answer = await editor.next(['explain:response', 'explain:error']);
    if (answer.type !== 'explain:response') throw new Error(JSON.stringify(answer.payload));
  };
  await ask();
  for (let i = 0; i < RUNS; i += 1) await timed(times.explain, ask);
  for (let i = 0; i < RUNS; i += 1) {
    await timed(times.pipeline, () => mcp.ok('paige_run_coaching_pipeline', { planText: `# Plan ${i}\n\n1. Read\n2. Write`, issueSummary: 'greet fails without a name' }));
  }
  report('explanation, editor to editor', times.explain);
  report('coaching pipeline, MCP call', times.pipeline);
  const llm = daemon.worker('llm');
  console.log(`memory of llm: ${fs.readFileSync(`/proc/${llm.pid}/smaps_rollup`, 'utf8').match(/^Pss: +(\d+ kB)/m)[1]}`);
  await daemon.stop();
} finally {
  editor?.close();
  await mcp?.close().catch(() => {});
  daemon.endNow();
  daemon.removeScratch();
  claude.close();
  for (const directory of directories) fs.rmSync(directory, { recursive: true, force: true });
}
