// trojan.mjs - a copy of the programs in which something else runs in the place of workers.
import fs from 'node:fs';
import path from 'node:path';
import { PAIGED } from './daemon.mjs';
import { ALL_WORKERS as KNOWN } from './workers.mjs';

const workers = path.join(path.dirname(PAIGED), '..', 'workers');

/** Every worker that there can be: the mirror is built where libpq is. */
export const ALL_WORKERS = KNOWN.filter((name) => fs.existsSync(path.join(workers, name, `paige-${name}`)));

/** Makes the copy in `root` and gives its paiged. `lines(name, program)`: the shell lines that run in place of a worker's program. */
export function trojan(root, lines) {
  fs.mkdirSync(path.join(root, 'supervisor'), { recursive: true });
  fs.copyFileSync(PAIGED, path.join(root, 'supervisor', 'paiged'));
  for (const name of ALL_WORKERS) {
    const program = path.join(root, 'workers', name, `paige-${name}`);
    fs.mkdirSync(path.dirname(program), { recursive: true });
    const real = fs.realpathSync(path.join(workers, name, `paige-${name}`));
    fs.writeFileSync(program, ['#!/bin/sh', ...lines(name, real)].join('\n') + '\n', { mode: 0o755 });
  }
  return path.join(root, 'supervisor', 'paiged');
}
