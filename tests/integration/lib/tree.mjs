// tree.mjs - an editor that follows the tree of a project.
import path from 'node:path';
import { until } from './wait.mjs';

const describe = ({ action, path: file, newPath }) => [action, file, newPath].filter(Boolean).join(' ');
/** What an editor was told of the tree, each as "change src/main.ts". */
export const updates = (editor) => editor.of('fs:tree_update').map((message) => describe(message.payload));
export const told = (editor, text) => until(`"${text}" to be told`, () => updates(editor).includes(text));

/** Everything a client knows of the tree from what it was told. */
export function known(editor) {
  const paths = new Set();
  const walk = (node) => {
    paths.add(node.path);
    for (const child of node.children ?? []) walk(child);
  };
  for (const { type, payload } of editor.messages) {
    if (type === 'fs:tree') {
      paths.clear();
      walk(payload.root);
    } else if (type === 'fs:tree_update') {
      const below = [...paths].filter((p) => p === payload.path || p.startsWith(`${payload.path}/`));
      if (payload.action.startsWith('add')) paths.add(payload.path);
      if (payload.action.startsWith('unlink')) below.forEach((p) => paths.delete(p));
      if (payload.action !== 'rename') continue;
      below.forEach((p) => paths.delete(p));
      below.forEach((p) => paths.add(payload.newPath + p.slice(payload.path.length)));
    }
  }
  return paths;
}

/** A daemon whose tree an editor has. */
export async function withTree(t, options) {
  const daemon = await t.daemon(options);
  const editor = await t.editor(daemon);
  await editor.next('fs:tree');
  return { daemon, editor, dir: daemon.projectDir, file: (name) => path.join(daemon.projectDir, name) };
}

export const open = (editor, name) => editor.ask('file:open', { path: name }, ['fs:content', 'connection:error']);
