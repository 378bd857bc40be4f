// many-files.mjs - a project with very many files.
import fs from 'node:fs';
import path from 'node:path';

/** Files in each directory of manyFiles. */
export const PER_DIRECTORY = 1000;

/** Makes `count` empty files: many/d000/f000000.txt and so on, a thousand in a directory. */
export function manyFiles(projectDir, count) {
  for (let i = 0; i < count; i += 1) {
    const dir = path.join(projectDir, 'many', `d${String(Math.floor(i / PER_DIRECTORY)).padStart(3, '0')}`);
    if (i % PER_DIRECTORY === 0) fs.mkdirSync(dir, { recursive: true });
    fs.writeFileSync(path.join(dir, `f${String(i).padStart(6, '0')}.txt`), '');
  }
}
