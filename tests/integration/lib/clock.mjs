// clock.mjs - programs whose clock is wrong, by Debian's libfaketime. Timers and waits are left alone.
import fs from 'node:fs';

const BASE = '/usr/lib';
const library = fs.readdirSync(BASE).map((name) => `${BASE}/${name}/faketime/libfaketimeMT.so.1`).find((file) => fs.existsSync(file));

/** Why no clock can be wrong, or false. */
export const WITHOUT_FAKETIME = library ? false : 'faketime is not installed: apt-get install faketime';

/** The environment of a program whose clock differs from the machine's by so much, such as '+1h'. */
export const clock = (difference) => ({ LD_PRELOAD: library, FAKETIME: difference, FAKETIME_DONT_FAKE_MONOTONIC: '1' });

const SHARED = '/dev/shm';

/** Removes what libfaketime has left of processes that are no more: what is confined or killed cannot do so itself. */
export function clearClocks() {
  for (const name of fs.readdirSync(SHARED)) {
    const [, pid] = name.match(/^(?:faketime_shm|sem\.faketime_sem)_(\d+)$/) ?? [];
    if (!pid || fs.existsSync(`/proc/${pid}`)) continue;
    try {
      fs.unlinkSync(`${SHARED}/${name}`);
    } catch (error) {
      // Another user's, or somebody else has just removed it.
      if (!['EACCES', 'EPERM', 'ENOENT'].includes(error.code)) throw error;
    }
  }
}
