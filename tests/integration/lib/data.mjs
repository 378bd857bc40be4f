// data.mjs - a DATA_DIR that no daemon uses: paigectl on it, what is in it.
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { PAIGED } from './daemon.mjs';

export const PAIGECTL = path.join(path.dirname(PAIGED), 'paigectl');

export const sqlite = (file, sql) => execFileSync('sqlite3', [file, sql], { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 }).trim();

/** {code, out, error} of paigectl on a DATA_DIR. */
export function ctl(daemon, dataDir, ...args) {
  return new Promise((resolve) => {
    execFile(PAIGECTL, args, { env: { ...daemon.env, DATA_DIR: dataDir }, cwd: daemon.root }, (error, out, text) => resolve({ code: error?.code ?? 0, out, error: text }));
  });
}

/** What stands in a folder, but for what tells who uses it. */
export function contents(dir) {
  const found = {};
  for (const entry of fs.readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && !/\/(logs\/.*|paiged\.lock|replacement\.new\/.*)$/.test(file)) found[path.relative(dir, file)] = fs.readFileSync(file, 'base64');
  }
  return found;
}
