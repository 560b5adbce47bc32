/** Memoizes an asynchronous function by its arguments; after a failure the next call tries again. */
export function memoizeAsync<Args extends readonly string[], T>(
  make: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  const made = new Map<string, Promise<T>>();
  return (...args) => {
    const key = JSON.stringify(args);
    let making = made.get(key);
    if (making === undefined) {
      making = make(...args);
      made.set(key, making);
      making.catch(() => made.delete(key));
    }
    return making;
  };
}
