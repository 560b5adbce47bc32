/** Values of `/metrics` at one moment, each summed over its labels. */
export interface Sample {
  readonly at: number;
  readonly values: ReadonlyMap<string, number>;
}

/** The most important metrics for an operator. Undefined: unknown, or not measured by this process. */
export interface LiveMetrics {
  readonly searchesPerSecond: number | undefined;
  /** Mean duration in seconds of the searches since the previous sample. */
  readonly searchSeconds: number | undefined;
  readonly analysesPerSecond: number | undefined;
  /** Number of changes in all collections that are not visible yet. */
  readonly queue: number | undefined;
  /** Age in seconds of the oldest change that is not visible yet. */
  readonly lagSeconds: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly vectorBytes: number | undefined;
  readonly diskBytes: number | undefined;
}

/** Parses Prometheus's text format into sums over all labels. @param at time in milliseconds */
export function readSample(text: string, at: number): Sample {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^([A-Za-z_:][\w:]*)(?:\{.*\})? (\S+)/.exec(line) ?? [];
    if (name === undefined || name.endsWith('_bucket') || !Number.isFinite(Number(value))) continue;
    values.set(name, (values.get(name) ?? 0) + Number(value));
  }
  return { at, values };
}

/**
 * The metrics of a sample; rates refer to the time since the previous one. A counter that decreased was reset by a
 * restart.
 */
export function figuresOf(sample: Sample, before: Sample | undefined): LiveMetrics {
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
