/** Makes something once for the same arguments and keeps it; what failed is tried again. */
export function once<Args extends readonly string[], T>(
  make: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  const made = new Map<string, Promise<T>>();
  return (...args) => {
    const key = JSON.stringify(args);
    let making = made.get(key);
    if (making === undefined) {
      making = make(...args);
      made.set(key, making);
      // A caller that asked hears of it by the promise itself.
      making.catch(() => made.delete(key));
    }
    return making;
  };
}
