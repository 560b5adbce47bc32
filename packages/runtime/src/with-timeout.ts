/**
 * Waits for a promise, at most for the given milliseconds.
 *
 * @throws the error of the promise; Error if it is still pending then: its later result or error is ignored
 */
export async function withTimeout<Value>(
  milliseconds: number,
  promise: Promise<Value>,
  message = `not done within ${milliseconds} ms`,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
