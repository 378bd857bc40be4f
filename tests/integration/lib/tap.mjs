// tap.mjs - what crosses the bus, as paigectl tap shows it.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { PAIGED } from './daemon.mjs';
import { ended } from './processes.mjs';

const PAIGECTL = path.join(path.dirname(PAIGED), 'paigectl');

/** A running paigectl tap: {lines, child, ended}. */
export function tap(daemon, ...args) {
  const child = spawn(PAIGECTL, ['tap', ...args], { env: daemon.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const looking = { child, lines: [], errors: '' };
  let part = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const pieces = (part + text).split('\n');
    part = pieces.pop();
    looking.lines.push(...pieces);
  });
  child.stderr.setEncoding('utf8').on('data', (text) => (looking.errors += text));
  looking.ended = ended(child);
  return looking;
}

export const messages = (looking) => looking.lines.map((line) => JSON.parse(line));
