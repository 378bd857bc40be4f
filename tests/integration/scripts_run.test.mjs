// scripts_run.test.mjs - scripts/run as somebody meets it who has just cloned the repository.
import { strict as assert } from 'node:assert';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PAIGED } from './lib/daemon.mjs';
import { Editor } from './lib/editor.mjs';
import { alive, descendants, ended } from './lib/processes.mjs';
import { smallProject } from './lib/project.mjs';
import { scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const RUN = fileURLToPath(new URL('../../scripts/run', import.meta.url));

/**
 * Starts scripts/run with a home of its own. options: env, cwd; command: by which it is called; cache: false for a machine on which
 * scripts/setup has fetched nothing yet. Gives {child, home, said, ended}.
 */
function run(t, args, { env = {}, cwd, command = [RUN], cache = true } = {}) {
  const home = t.directory('home');
  if (cache) fs.symlinkSync(path.join(os.homedir(), '.cache'), path.join(home, '.cache'));
  const child = spawn(command[0], [...command.slice(1), ...args], {
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
  const started = { child, home, said: '', ended: ended(child).then(({ code, signal }) => code ?? signal) };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (started.said += text));
  t.closeLater({ close: () => child.kill('SIGTERM') });
  return started;
}

/** Waits for the words that tell how to go on, checks that it serves, stops it and checks that nothing is left. */
async function servesAndStops(started, projectDir, look = async () => {}) {
  const [, url] = await until('the address', () => started.said.match(/Paige is running at (http:\/\/\S+) and coaches on/), { ms: 30000 }).catch((error) => {
    throw new Error(`${error.message}\n${started.said}`);
  });
  assert.ok(started.said.includes(`coaches on ${projectDir}.`), started.said);
  assert.ok(started.said.includes(`claude mcp add --transport http paige ${url}/mcp`), started.said);
  assert.ok(started.said.includes(`${url.replace('http', 'ws')}/ws`), started.said);
  assert.equal((await fetch(`${url}/ready`)).status, 200);
  await look(url);
  const family = descendants(started.child.pid);
  started.child.kill('SIGTERM');
  assert.equal(await started.ended, 0, started.said);
  await until('the end of every process', () => !family.some(alive), { ms: 5000 });
}

scenario('with a key it ends with a running daemon and what to do next', async (t) => {
  const projectDir = t.keep(smallProject());
  await servesAndStops(run(t, [projectDir], { env: { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } }), projectDir);
});

scenario('the key may stand in paige.conf, the project is the current directory, and its .env configures nothing', async (t) => {
  const projectDir = t.keep(smallProject());
  const config = t.directory('config');
  fs.mkdirSync(path.join(config, 'paige'));
  fs.writeFileSync(path.join(config, 'paige', 'paige.conf'), 'ANTHROPIC_API_KEY=test-key\nANTHROPIC_BASE_URL=http://127.0.0.1:9\n');
  fs.writeFileSync(path.join(projectDir, '.env'), 'HOST=0.0.0.0\nMEMORY=512M\nANTHROPIC_BASE_URL=http://192.0.2.1\n');
  const started = run(t, [], { cwd: projectDir, env: { XDG_CONFIG_HOME: config } });
  await servesAndStops(started, projectDir);
  assert.ok(started.said.includes(`put HOST, ANTHROPIC_BASE_URL, MEMORY into ${config}/paige/paige.conf`), started.said);
  assert.match(started.said, /decides where data goes.* name=ANTHROPIC_BASE_URL value="?http:\/\/127\.0\.0\.1:9"? from=\S*paige\.conf/);
});

scenario('--demo needs no key', async (t) => {
  const projectDir = t.keep(smallProject());
  await servesAndStops(run(t, ['--demo', projectDir]), projectDir, async (url) => {
    const editor = t.closeLater(await Editor.connect({ port: new URL(url).port }));
    assert.equal(editor.init.claudeScripted, true, 'windows can tell that a script answers');
  });
});

scenario('it works by whatever way it is called: by a link, by sh, with CDPATH, and with blanks in the paths', async (t) => {
  const here = t.directory('here');
  const projectDir = path.join(here, 'my project');
  fs.renameSync(smallProject(), projectDir);
  fs.symlinkSync(RUN, path.join(here, 'run-paige'));
  const env = { CDPATH: os.tmpdir(), DATA_DIR: path.join(here, 'my data') };
  const calls = [['./run-paige'], ['sh', RUN], ['bash', '--posix', RUN]];
  for (const command of calls) await servesAndStops(run(t, ['--demo', 'my project'], { env, cwd: here, command }), projectDir);
});

scenario('the status command that it prints works as it stands, elsewhere too', async (t) => {
  const here = t.directory('here');
  const started = run(t, ['--demo', t.keep(smallProject())], { env: { DATA_DIR: path.join(here, "Ada's data") } });
  const [, command] = await until('the command', () => started.said.match(/^ {2}status +(.*)$/m), { ms: 30000 });
  const said = execFileSync('sh', ['-c', command], { cwd: '/', env: { PATH: process.env.PATH, HOME: here }, encoding: 'utf8' });
  assert.match(said, /gateway +ready/);
  started.child.kill('SIGTERM');
  assert.equal(await started.ended, 0, started.said);
});

scenario('without a key it says what to do, before the rest is built', async (t) => {
  const started = run(t, []);
  assert.equal(await started.ended, 1);
  assert.match(started.said, /ANTHROPIC_API_KEY is not set/);
  assert.match(started.said, /--demo/);
});

scenario('a fault of .env is named as paiged reads it, also when it hides what is required', async (t) => {
  const cwd = t.directory('cwd');
  const said = async (text, mode = 0o600) => {
    fs.rmSync(path.join(cwd, '.env'), { recursive: true, force: true });
    if (text === null) fs.mkdirSync(path.join(cwd, '.env'));
    else fs.writeFileSync(path.join(cwd, '.env'), text, { mode });
    const started = run(t, [t.keep(smallProject())], { cwd });
    assert.equal(await started.ended, 1, started.said);
    return started.said;
  };
  const open = await said('# Mine\nANTHROPIC_API_KEY="test-key\n');
  assert.match(open, /\.env line 2: .*quote is not closed/);
  assert.match(open, /ANTHROPIC_API_KEY is not set/);
  assert.match(await said(null), /\.env.* cannot be read: Is a directory/);
  assert.match(await said('\ufeffANTHROPIC_API_KEY=test-key\nLOG_LEVEL=many\n'), /LOG_LEVEL="many"/); // a byte order mark hides nothing
});

/** A directory for PATH, and a way to put commands there. */
function fakes(t) {
  const tools = t.directory('tools');
  const tool = (name, ...lines) => fs.writeFileSync(path.join(tools, name), `#!/bin/sh\n${lines.join('\n')}\n`, { mode: 0o755 });
  return { tool, env: { PATH: `${tools}:${process.env.PATH}` } };
}

const MISSING = 'case "$4" in ninja-build) printf "not-installed " ;; *) printf "installed " ;; esac';

scenario('what dpkg knows as not installed is installed, and nothing else, and its size is told before', async (t) => {
  const { tool, env } = fakes(t);
  tool('dpkg-query', 'case "$4" in ninja-build) printf "not-installed " ;; libgit2-dev) printf "installed not-installed " ;;',
    'meson) printf "config-files " ;; libnng-dev) exit 1 ;; *) printf "installed " ;; esac');
  tool('apt-cache', 'echo "  Candidate: 1.0"');
  tool('apt-get', 'case "$*" in *print-uris*) printf "\'http://d/a.deb\' a.deb 1500000 SHA256:0\\n\'http://d/b.deb\' b.deb 700000 SHA256:0\\n" ;;',
    '*install*) echo "asked: $*"; exit 100 ;; esac');
  tool('sudo', '[ "$1" != -n ] || shift; exec "$@"');
  const started = run(t, ['--demo', t.keep(smallProject())], { env });
  assert.equal(await started.ended, 1, started.said);
  const [, asked] = started.said.match(/asked: .* --no-install-recommends (.*)/);
  assert.deepEqual(asked.split(' ').sort(), ['libnng-dev', 'meson', 'ninja-build']);
  assert.match(started.said, /installing .*: 2 packages, 2\.2 MB to download/);
});

scenario('a mirror that does not answer is what is told last', async (t) => {
  const { tool, env } = fakes(t);
  tool('dpkg-query', MISSING);
  tool('sudo', '[ "$1" != -n ] || shift; exec "$@"');
  tool('apt-get', 'echo "W: Failed to fetch http://mirror.invalid/InRelease  Could not resolve \'mirror.invalid\'"');
  tool('apt-cache', 'echo "  Candidate: (none)"');
  const lists = run(t, ['--demo'], { env });
  assert.equal(await lists.ended, 1, lists.said);
  assert.match(lists.said, /could not read its lists, so these cannot be had: ninja-build\nFailed to fetch http:\/\/mirror\.invalid.*\n.*network is up.*\n$/);
  tool('apt-cache', 'echo "  Candidate: 1.0"');
  tool('apt-get', 'case "$*" in *print-uris*) ;; *install*) echo "E: Failed to fetch http://mirror.invalid/n.deb"; exit 100 ;; esac');
  const archive = run(t, ['--demo'], { env });
  assert.equal(await archive.ended, 1, archive.said);
  assert.match(archive.said, /setup: installing failed: Failed to fetch http:\/\/mirror\.invalid\/n\.deb\n.*network is up.*\n$/);
});

scenario('sudo that wants a password: no terminal, no waiting', async (t) => {
  const { tool, env } = fakes(t);
  tool('dpkg-query', MISSING);
  tool('id', 'case "$1" in -u) echo 1000 ;; *) echo ada ;; esac');
  tool('sudo', '[ "$1" != -n ] || exit 1; echo "asked for a password"; exit 1');
  const started = run(t, ['--demo'], { env });
  assert.equal(await started.ended, 1, started.said);
  assert.match(started.said, /^setup: sudo wants a password, and there is no terminal.*\n {2}\S*scripts\/setup\n$/);
});

scenario('an npm registry that does not answer: soon told why, nothing left, not asked again that day', async (t) => {
  const { tool, env } = fakes(t);
  const asked = path.join(t.directory('asked'), 'times');
  tool('npm', `echo x >>${asked}`, 'echo "npm ERR! code ENOTFOUND" >&2',
    'echo "npm ERR! network request to https://registry.invalid/model failed, reason: getaddrinfo ENOTFOUND registry.invalid" >&2; exit 1');
  const first = run(t, ['--demo', t.keep(smallProject())], { env, cache: false });
  const reason = /no sentence model, memories are found by words alone: .*getaddrinfo ENOTFOUND registry\.invalid/;
  await until('the reason', () => reason.test(first.said), { ms: 30000 });
  first.child.kill('SIGTERM');
  await first.ended;
  const cache = path.join(first.home, '.cache', 'paige');
  assert.deepEqual(fs.readdirSync(cache), ['use-lite.failed']);
  const count = () => fs.readFileSync(asked, 'utf8').length;
  const before = count();
  const again = { env: { ...env, HOME: first.home }, cache: false };
  const second = run(t, ['--demo', t.keep(smallProject())], again);
  await until('the reason', () => reason.test(second.said) && second.said.includes('a day later'), { ms: 30000 });
  second.child.kill('SIGTERM');
  await second.ended;
  assert.equal(count(), before);
  // A day later it is asked again; one that accepts and says nothing is not waited for.
  fs.utimesSync(path.join(cache, 'use-lite.failed'), new Date(0), new Date(0));
  tool('npm', `echo x >>${asked}`, 'exec sleep 100');
  const begun = Date.now();
  const third = run(t, ['--demo', t.keep(smallProject())], again);
  await until('the reason', () => third.said.includes('did not answer within'), { ms: 30000 });
  assert.ok(Date.now() - begun < 25000);
  third.child.kill('SIGTERM');
  await third.ended;
  assert.deepEqual(fs.readdirSync(cache), ['use-lite.failed']);
  assert.doesNotMatch(first.said + second.said + third.said, /npm is not installed/);
});

scenario('a build directory: of others, or configured with other options', async (t) => {
  const { tool, env } = fakes(t);
  const build = path.join(t.directory('build'), 'b');
  const log = path.join(t.directory('log'), 'calls');
  fs.mkdirSync(build);
  fs.writeFileSync(path.join(build, 'build.ninja'), '');
  fs.writeFileSync(path.join(build, 'setup.log'), '');
  const common = (body) => spawnSync('bash', ['-c', `set -euo pipefail; . ${path.dirname(RUN)}/common.sh; ${body}`], { env: { ...process.env, ...env }, encoding: 'utf8' });
  tool('meson', `echo "$*" >>${log}`, 'case $1 in introspect) echo \'[{"name":"tests","value":true},{"name":"fuzz","value":false}]\' ;; esac');
  assert.equal(common(`configure ${build} -Dtests=true -Dfuzz=false`).status, 0);
  assert.doesNotMatch(fs.readFileSync(log, 'utf8'), /setup/);
  const other = common(`configure ${build} -Dtests=false -Dfuzz=false`);
  assert.equal(other.status, 0, other.stderr);
  assert.match(fs.readFileSync(log, 'utf8'), /setup --reconfigure -Dtests=false -Dfuzz=false/);
  tool('meson', 'case $1 in introspect) exit 1 ;; esac', 'echo "meson.build:1:0: ERROR: Dependency \\"x\\" not found"; exit 1');
  assert.match(common(`configure ${build} -Dtests=false`).stderr, /\nmeson could not configure \S+: Dependency "x" not found \(everything.*\n$/);
  if (process.getuid() !== 0) return;
  const open = t.directory('open');
  fs.chmodSync(open, 0o755);
  fs.copyFileSync(path.join(path.dirname(RUN), 'common.sh'), path.join(open, 'common.sh'));
  const stranger = spawnSync('setpriv', ['--reuid', '65534', '--regid', '65534', '--clear-groups', 'bash', '-c', `. ${open}/common.sh; own /usr/paige-build`], { cwd: '/', encoding: 'utf8' });
  assert.equal(stranger.status, 1);
  assert.match(stranger.stderr, /cannot write \/usr\/paige-build\. Make a clone of your own/);
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
