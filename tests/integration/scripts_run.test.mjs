// scripts_run.test.mjs - scripts/run as somebody meets it who has just cloned the repository.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PAIGED } from './lib/daemon.mjs';
import { alive, descendants } from './lib/processes.mjs';
import { smallProject } from './lib/project.mjs';
import { scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const RUN = fileURLToPath(new URL('../../scripts/run', import.meta.url));

/** Starts scripts/run with a home of its own. options: env, cwd. Gives {child, said(), ended}. */
function run(t, args, { env = {}, cwd } = {}) {
  const home = t.directory('home');
  // What scripts/setup fetches lies there: it need not do that again.
  fs.symlinkSync(path.join(os.homedir(), '.cache'), path.join(home, '.cache'));
  const child = spawn(RUN, args, {
    cwd: cwd ?? home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      PORT: '0',
      DATA_DIR: path.join(home, 'data'),
      PAIGE_BUILD_DIR: path.resolve(path.dirname(PAIGED), '..'),
      ...(process.env.ASAN_OPTIONS && { ASAN_OPTIONS: process.env.ASAN_OPTIONS }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = { child, said: '', ended: new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal))) };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (started.said += text));
  t.closeLater({ close: () => child.kill('SIGTERM') });
  return started;
}

/** Waits for the words that tell how to go on, checks that it serves, stops it and checks that nothing is left. */
async function servesAndStops(started, projectDir) {
  const [, url] = await until('the address', () => started.said.match(/Paige is running at (http:\/\/\S+) and coaches on/), { ms: 30000 }).catch((error) => {
    throw new Error(`${error.message}\n${started.said}`);
  });
  assert.ok(started.said.includes(`coaches on ${projectDir}.`), started.said);
  assert.ok(started.said.includes(`claude mcp add --transport http paige ${url}/mcp`), started.said);
  assert.ok(started.said.includes(`${url.replace('http', 'ws')}/ws`), started.said);
  assert.equal((await fetch(`${url}/ready`)).status, 200);
  const family = descendants(started.child.pid);
  started.child.kill('SIGTERM');
  assert.equal(await started.ended, 0, started.said);
  await until('the end of every process', () => !family.some(alive), { ms: 5000 });
}

scenario('with a key it ends with a running daemon and what to do next', async (t) => {
  const projectDir = t.keep(smallProject());
  await servesAndStops(run(t, [projectDir], { env: { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } }), projectDir);
});

scenario('the key may stand in .env, and the project is the current directory', async (t) => {
  const projectDir = t.keep(smallProject());
  fs.writeFileSync(path.join(projectDir, '.env'), 'ANTHROPIC_API_KEY=test-key\nANTHROPIC_BASE_URL=http://127.0.0.1:9\n');
  await servesAndStops(run(t, [], { cwd: projectDir }), projectDir);
});

scenario('--demo needs no key', async (t) => {
  const projectDir = t.keep(smallProject());
  await servesAndStops(run(t, ['--demo', projectDir]), projectDir);
});

scenario('without a key it says what to do, before building anything', async (t) => {
  const started = run(t, []);
  assert.equal(await started.ended, 1);
  assert.match(started.said, /ANTHROPIC_API_KEY/);
  assert.match(started.said, /--demo/);
  assert.doesNotMatch(started.said, /building/);
});

scenario('what dpkg knows as not installed is installed, and nothing else', async (t) => {
  const tools = t.directory('tools');
  const tool = (name, ...lines) => fs.writeFileSync(path.join(tools, name), `#!/bin/sh\n${lines.join('\n')}\n`, { mode: 0o755 });
  tool('dpkg-query', 'case "$4" in ninja-build) printf "not-installed " ;; libgit2-dev) printf "installed not-installed " ;;',
    'meson) printf "config-files " ;; libnng-dev) exit 1 ;; *) printf "installed " ;; esac');
  tool('apt-cache', 'echo "  Candidate: 1.0"');
  tool('apt-get', 'case "$*" in *install*) echo "asked: $*"; exit 100 ;; esac');
  tool('sudo', 'exec "$@"');
  const started = run(t, ['--demo', t.keep(smallProject())], { env: { PATH: `${tools}:${process.env.PATH}` } });
  assert.equal(await started.ended, 1, started.said);
  const [, asked] = started.said.match(/asked: .* --no-install-recommends (.*)/);
  assert.deepEqual(asked.split(' ').sort(), ['libnng-dev', 'meson', 'ninja-build']);
});

scenario('a port that is taken is named, with a way out', async (t) => {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  const started = run(t, [t.keep(smallProject())], { env: { ANTHROPIC_API_KEY: 'test-key', PORT: String(port) } });
  assert.equal(await started.ended, 1, started.said);
  server.close();
  assert.match(started.said, new RegExp(`port ${port}`));
  assert.match(started.said, /to 0 for any free one/);
});

scenario('wrong calls', async (t) => {
  const missing = run(t, ['/no/such/project']);
  assert.equal(await missing.ended, 1);
  assert.match(missing.said, /\/no\/such\/project is not a directory/);
  const twice = run(t, ['a', 'b']);
  assert.equal(await twice.ended, 2);
  assert.match(twice.said, /scripts\/run \[--demo\] \[PROJECT_DIR\]/);
});
