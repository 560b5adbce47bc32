type Column = Float32Array | Float64Array | Int32Array | Uint32Array;

/** Copies one column of some parts into `into`, one part after the other. */
export function joined<Part extends { readonly docs: ArrayLike<number> }, T extends Column>(
  parts: readonly Part[],
  columnOf: (part: Part) => ArrayLike<number>,
  into: T,
): T {
  let at = 0;
  for (const part of parts) {
    into.set(columnOf(part), at);
    at += part.docs.length;
  }
  return into;
}

/** Copies the numbers at some indexes into `into`. */
export function picked<T extends Column>(from: T, indexes: readonly number[], into: T): T {
  for (let i = 0; i < indexes.length; i++) into[i] = from[indexes[i] as number] as number;
  return into;
}
