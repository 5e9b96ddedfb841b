// tap.mjs - tests that are sentences, printed as TAP: tests/lib/tap.py for the browser's side.
const tests = [];

/** Registers a test; its name is the sentence. They run in the order of the file, one after another. */
export const test = (sentence, body) => tests.push({sentence, body});

export function check(condition, text) {
  if (!condition) throw new Error(text);
}

export function equal(found, wanted, what = "") {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what ? `${what}: ` : ""}${a}, wanted ${b}`);
}

export function diagnostic(text) {
  for (const line of String(text).split("\n")) console.log(`# ${line}`);
}

async function runOne(number, {sentence, body}, argument) {
  try {
    await body(argument);
    console.log(`ok ${number} - ${sentence}`);
    return true;
  } catch (fault) {
    console.log(`not ok ${number} - ${sentence}`);
    diagnostic(fault.stack ?? fault);
    await argument.onFault?.(sentence);
    return false;
  }
}

/** Runs all with what `make` gives, calls its `end`, and ends the process. An argument of the command: only tests with it in their sentence. */
export async function run(make) {
  const wanted = tests.filter(({sentence}) => sentence.includes(process.argv[2] ?? ""));
  tests.splice(0, tests.length, ...wanted);
  console.log(`1..${tests.length}`);
  const argument = await make();
  let failed = 0;
  for (const [at, one] of tests.entries()) failed += (await runOne(at + 1, one, argument)) ? 0 : 1;
  await argument.end();
  process.exit(failed ? 1 : 0);
}
