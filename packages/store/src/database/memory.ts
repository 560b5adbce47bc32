/** What a process remembers of collections. It only serves speed, never correctness. */
export class Memory {
  readonly #parts = new Set<Map<number | string, unknown>>();

  add<Key extends number | string, Value>(part: Map<Key, Value>): Map<Key, Value> {
    this.#parts.add(part as Map<number | string, unknown>);
    return part;
  }

  forget({ id, name }: { readonly id: number; readonly name: string }): void {
    for (const part of this.#parts) for (const key of [id, name]) part.delete(key);
  }

  forgetAll(): void {
    for (const part of this.#parts) part.clear();
  }
}

/** The part of the memory that belongs to the code which calls this: by id of the collection, or by its name. */
export function remembered<Value, Key extends number | string = number>() {
  const parts = new WeakMap<Memory, Map<Key, Value>>();
  return ({ memory }: { readonly memory: Memory }): Map<Key, Value> => {
    const part = parts.get(memory) ?? memory.add(new Map());
    parts.set(memory, part);
    return part;
  };
}
