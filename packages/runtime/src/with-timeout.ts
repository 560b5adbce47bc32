/**
 * What a promise gives, unless it takes longer.
 *
 * @throws Error after the given milliseconds; what the promise gives later is ignored
 */
export async function withTimeout<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
