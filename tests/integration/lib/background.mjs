// background.mjs - tests that wait, beside the others of their file: node runs the tests of a file one after another.
import test from 'node:test';

/** With a pattern node runs few of the tests: what is not asked for must not run either. */
const FEW = process.execArgv.some((argument) => argument.startsWith('--test-name-pattern'));

/** Gives test(name, body): its bodies, each passed to `play`, run one after another from the moment the first is declared. */
export function inBackground(play) {
  let last = Promise.resolve();
  return (name, body) => {
    if (FEW) return test(name, () => play(body));
    const result = last.then(() => play(body));
    last = result.catch(() => {}); // told by the test below; the next one is played all the same
    return test(name, () => result);
  };
}
