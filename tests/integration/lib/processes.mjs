// processes.mjs - the process table. A process is its pid and its start time, so that a reused pid is never taken for it.
import fs from 'node:fs';
import { sleep } from './wait.mjs';

/** {pid, ppid, start, zombie} of a live process, or null. */
function stat(pid) {
  let text;
  try {
    text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name stands in brackets and may hold anything: fields are counted from the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { pid, ppid: Number(fields[1]), start: fields[19], zombie: fields[0] === 'Z' };
}

/** Base name of the program of a process; '' when it is gone. */
function program(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0].split('/').pop();
  } catch {
    return '';
  }
}

/** Every process below `pid`, at any depth, as {pid, ppid, start, name}. */
export function descendants(pid) {
  const table = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => stat(Number(name)))
    .filter((entry) => entry && !entry.zombie);
  const found = [];
  for (let parents = [pid]; parents.length; ) {
    const children = table.filter((entry) => parents.includes(entry.ppid));
    found.push(...children.map((entry) => ({ ...entry, name: program(entry.pid) })));
    parents = children.map((entry) => entry.pid);
  }
  return found;
}

/** The direct children of `pid`; cheap enough to be asked every millisecond. */
export function children(pid) {
  let text;
  try {
    text = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    return [];
  }
  return text
    .split(' ')
    .filter(Boolean)
    .map((child) => stat(Number(child)))
    .filter((entry) => entry && !entry.zombie)
    .map((entry) => ({ ...entry, name: program(entry.pid) }));
}

/** {name, processors, policy} of each thread: those that it may run on as the kernel lists them, and its scheduling policy (sched(7)). */
export function threads(pid) {
  return fs.readdirSync(`/proc/${pid}/task`).map((thread) => {
    const read = (file) => fs.readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8');
    const text = read('stat');
    return {
      name: read('comm').trim(),
      processors: read('status').match(/^Cpus_allowed_list:\s+(\S+)$/m)[1],
      policy: Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[38]),
    };
  });
}

/** How often the threads of these processes have waited and been woken so far. */
export function wakeups(pids) {
  return pids
    .flatMap((pid) => fs.readdirSync(`/proc/${pid}/task`).map((thread) => fs.readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')))
    .reduce((sum, text) => sum + Number(text.match(/^voluntary_ctxt_switches:\s+(\d+)/m)[1]), 0);
}

export function alive(entry) {
  const now = stat(entry.pid);
  return now !== null && now.start === entry.start && !now.zombie;
}

/** Sends a signal to exactly this process; false when it is gone. */
export function signal(entry, name) {
  if (!alive(entry)) return false;
  try {
    return process.kill(entry.pid, name);
  } catch {
    return false;
  }
}

/** Memory of these processes in bytes (PSS: what processes share is counted once). */
export function pss(pids) {
  return pids
    .map((pid) => Number(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').match(/^Pss:\s+(\d+) kB$/m)[1]) * 1024)
    .reduce((a, b) => a + b, 0);
}

/**
 * Processor time in seconds that the threads which these processes have now have used so far, as the scheduler counts it, to the nanosecond:
 * where a thousand processes use a little each, hundredths of a second do not add up.
 */
export function cpuSeconds(pids) {
  return pids
    .flatMap((pid) => fs.readdirSync(`/proc/${pid}/task`).map((thread) => fs.readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')))
    .reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e9, 0);
}

/**
 * The end of a process that spawn() has started, as {code, signal}, once its last words are read: they may still be in the pipe when it
 * is gone. 'exit' and not 'close' alone: a process that wrongly outlives it would hold the pipe open.
 */
export function ended(child, { ms = 1000 } = {}) {
  const read = new Promise((resolve) => child.once('close', resolve));
  return new Promise((resolve) => {
    child.once('exit', async (code, signal) => {
      await Promise.race([read, sleep(ms)]);
      resolve({ code, signal });
    });
  });
}
