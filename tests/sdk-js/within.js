// Waiting with a deadline, for all tests that wait.

/** How long anything may take. The machine may be busy with other things. */
const DEADLINE_MS = 20_000;

/** The promise, or a failure that names what did not come. `last` may say what was there instead. */
export async function within(promise, what, last = () => '') {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${DEADLINE_MS} ms: ${what} ${last()}`)), DEADLINE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
