// project.mjs - directories for tests: scratch ones, and small git repositories to be coached on.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A new directory with a short name, since socket paths below it have a limit. */
export function scratch(tag) {
  return fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), `paige-${tag}-`)));
}

export function writeFiles(root, files) {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(root, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  }
}

/** What a git command in `dir` says. */
export function git(dir, ...args) {
  const config = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'gc.auto=0', '-c', 'advice.detachedHead=false'];
  return execFileSync('git', ['-C', dir, ...config, ...args], { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' }).trim();
}

function commitAll(dir) {
  git(dir, 'init', '-q');
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '-m', 'Start');
}

/** A small project under git. `files` come on top. */
export function smallProject(files = {}) {
  const dir = scratch('project');
  writeFiles(dir, {
    'README.md': '# Greeter\n\nSays hello.\n',
    'src/greet.ts': 'export function greet(name: string) {\n  return `Hello ${name}`;\n}\n',
    'src/main.ts': "import { greet } from './greet';\n\nconsole.log(greet('world'));\n",
    ...files,
  });
  commitAll(dir);
  return dir;
}

/** A copy of the files that git tracks in `source`, as a repository of its own, so that the original stays untouched. */
export function copyOfProject(source) {
  const dir = scratch('project');
  for (const name of git(source, 'ls-files', '-z').split('\0').filter(Boolean)) {
    const target = path.join(dir, name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.cpSync(path.join(source, name), target, { dereference: false });
  }
  commitAll(dir);
  return dir;
}

/** A question about the small project: the payload of user:explain. */
export const QUESTION = {
  path: 'src/greet.ts',
  language: 'typescript',
  selection: { startLine: 2, startCol: 3, endLine: 2, endCol: 25 },
  selectedText: 'return `Hello ${name}`;',
  surroundingContext: 'export function greet(name: string) {\n  return `Hello ${name}`;\n}\n',
};
