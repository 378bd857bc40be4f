// main_job.test.mjs - the main job, undisturbed, with each worker killed in the middle, and across a restart.
import { strict as assert } from 'node:assert';
import { WORKERS } from './lib/daemon.mjs';
import { mainJob } from './lib/main-job.mjs';
import { sideBySide as scenario } from './lib/scenario.mjs';

const FILES = { edited: 'src/greet.ts', shown: 'src/main.ts' };

async function world(t) {
  const daemon = await t.daemon();
  return { daemon, editor: await t.editor(daemon), mcp: await t.mcp(daemon), ...FILES };
}

scenario('the main job', async (t) => {
  for (const step of mainJob({ ...(await world(t)), disturbed: false })) await step.run();
});

// Every fourth step, so that the pauses before restarts, which double, stay short.
for (const name of WORKERS) {
  for (const first of [0, 1, 2, 3]) {
    scenario(`the main job with ${name} killed before steps ${first}, ${first + 4} and ${first + 8}`, async (t) => {
      const here = await world(t);
      for (const [number, step] of mainJob(here).entries()) {
        const old = number % 4 === first ? await here.daemon.kill9(name) : null;
        await step.run();
        if (old) await here.daemon.replaced(name, old);
      }
    });
  }
}

for (const [how, end] of [
  ['a restart', (daemon) => daemon.stop()],
  ['a kill -9', (daemon) => daemon.die()],
]) {
  scenario(`unsaved text and the session survive ${how} of the daemon`, (t) => survival(t, end));
}

async function survival(t, end) {
  const first = await world(t);
  for (const step of mainJob(first).slice(0, 5)) await step.run();
  const { sessionId } = first.editor.of('session:started')[0].payload;
  const buffer = await first.mcp.ok('paige_get_buffer', { path: FILES.edited });
  await end(first.daemon);

  const daemon = await t.daemon({ projectDir: first.daemon.projectDir, dataDir: first.daemon.dataDir });
  const editor = await t.editor(daemon);
  assert.equal(editor.init.sessionId, sessionId);
  const again = await (await t.mcp(daemon)).ok('paige_get_buffer', { path: FILES.edited });
  assert.deepEqual([again.content, again.dirty], [buffer.content, true]);
}
