/** A part of the page whose script is loaded when it is first needed, so that the page itself appears early. */
export interface LazyPart<Module> {
  /** Undefined until it is loaded. */
  readonly now: Module | undefined;
  /** @throws {TypeError} if it cannot be loaded; the next call tries again */
  load(): Promise<Module>;
}

export function lazyPart<Module>(fetchModule: () => Promise<Module>): LazyPart<Module> {
  let now: Module | undefined;
  let loading: Promise<Module> | undefined;
  const begin = async () => {
    try {
      now = await fetchModule();
      return now;
    } finally {
      loading = undefined;
    }
  };
  return {
    get now() {
      return now;
    },
    load: async () => {
      if (now !== undefined) return now;
      loading ??= begin();
      return loading;
    },
  };
}
