/** Figures of `/metrics` at one moment: the sum of each over its labels. */
export interface Sample {
  /** Milliseconds of any monotonic clock. */
  readonly at: number;
  readonly values: ReadonlyMap<string, number>;
}

/** What an operator looks at first. Undefined: not known, or not of this process. */
export interface Figures {
  readonly searchesPerSecond: number | undefined;
  /** Seconds, of the searches since the sample before. */
  readonly searchSeconds: number | undefined;
  readonly analysesPerSecond: number | undefined;
  /** Changes of all collections that wait to be visible. */
  readonly queue: number | undefined;
  /** Seconds that the oldest change waits to be visible. */
  readonly lagSeconds: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly vectorBytes: number | undefined;
  readonly diskBytes: number | undefined;
}

/** Reads Prometheus's text format, as far as sums over all labels need it. @param of names to keep */
export function readSample(text: string, at: number): Sample {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^([A-Za-z_:][\w:]*)(?:\{.*\})? (\S+)/.exec(line) ?? [];
    if (name === undefined || name.endsWith('_bucket') || !Number.isFinite(Number(value))) continue;
    values.set(name, (values.get(name) ?? 0) + Number(value));
  }
  return { at, values };
}

/** The figures of a sample; rates are those since the one before. A counter that fell began again with its process. */
export function figuresOf(sample: Sample, before: Sample | undefined): Figures {
  const value = (name: string) => sample.values.get(name);
  const grown = (name: string) => {
    const [now, then] = [value(name), before?.values.get(name) ?? 0];
    return now === undefined || before === undefined || now < then ? undefined : now - then;
  };
  const seconds = before === undefined ? 0 : (sample.at - before.at) / 1_000;
  const rate = (name: string) => {
    const more = grown(name);
    return more === undefined || seconds <= 0 ? undefined : more / seconds;
  };
  const searches = grown('akin_search_seconds_count');
  return {
    searchesPerSecond: rate('akin_search_seconds_count'),
    searchSeconds: searches ? (grown('akin_search_seconds_sum') ?? 0) / searches : undefined,
    analysesPerSecond: rate('akin_analysis_seconds_count'),
    queue: value('akin_changes_waiting'),
    lagSeconds: value('akin_visible_lag_seconds'),
    memoryBytes: value('process_resident_memory_bytes'),
    vectorBytes: value('akin_searcher_bytes'),
    diskBytes: value('akin_disk_free_bytes'),
  };
}
