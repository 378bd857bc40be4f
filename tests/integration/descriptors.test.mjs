// Started with standard descriptors that are closed, or whose other end goes away: no file or socket of ours takes their place.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Daemon, PAIGED } from './lib/daemon.mjs';
import { descendants } from './lib/processes.mjs';
import { smallProject } from './lib/project.mjs';
import { scenario } from './lib/scenario.mjs';
import { sleep } from './lib/wait.mjs';

/** Standard descriptors that lead to what the daemon has opened itself: those of paiged that were closed, all of the workers'. */
function misplaced(daemon, closed) {
  return [{ pid: daemon.pid, name: 'paiged', fds: closed }, ...descendants(daemon.pid)].flatMap(({ pid, name, fds = [0, 1, 2] }) => fds.map((fd) => {
    let to = 'closed';
    try {
      to = fs.readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      // it is closed
    }
    const own = to === 'closed' || /^(socket|anon_inode)/.test(to) || to.startsWith(daemon.dataDir) || to.startsWith(daemon.env.XDG_RUNTIME_DIR);
    return own && `${name} ${fd} -> ${to}`;
  })).filter(Boolean);
}

for (const [closed, fds] of [['<&- >&- 2>&-', [0, 1, 2]], ['<&- 2>&-', [0, 2]], ['>&- 2>&-', [1, 2]], ['2>&-', [2]], ['<&-', [0]]]) {
  scenario(`started with ${closed}`, async (context) => {
    const daemon = new Daemon({ projectDir: context.keep(smallProject()), dataDir: context.directory('data') });
    daemon.command = ['sh', '-c', `exec ${PAIGED} ${closed}`];
    context.daemons.push(daemon);
    await daemon.start();
    const editor = await context.editor(daemon);
    editor.send('session:start', { issueNumber: 1 });
    await editor.next('session:started');
    // Each is a line of the log.
    await daemon.replaced('observer', await daemon.kill9('observer'));
    assert.deepEqual(misplaced(daemon, fds), []);
    await daemon.says('paiged', 'worker ended');
    const lock = fs.readFileSync(path.join(daemon.dataDir, 'paiged.lock'), 'utf8');
    assert.doesNotMatch(lock, /level=|msg=|Paige/);
  });
}

scenario('whoever read the output of the daemon has gone', async (context) => {
  const daemon = await context.daemon();
  daemon.child.stdout.destroy();
  daemon.child.stderr.destroy();
  const old = await daemon.kill9('observer');
  await daemon.replaced('observer', old);
  const ticks = () => fs.readFileSync(`/proc/${daemon.pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).reduce((sum, n) => sum + Number(n), 0);
  const before = ticks();
  await sleep(1000);
  assert.ok(ticks() - before < 20, 'it does not spin');
});
