import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of a process, in the format of Prometheus. Names begin with `akin_`; times are in seconds. */
export interface Metrics {
  counter<Label extends string>(name: string, help: string, labels?: readonly Label[]): Counter<Label>;
  /** @param read called whenever the metrics are read; it sets the gauge */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** The same with a value for each combination of labels. @param read called whenever the metrics are read */
  gauges<Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
    read: () => Promise<readonly { readonly labels: Readonly<Record<Label, string>>; readonly value: number }[]>,
  ): void;
  /** @param bounds upper bounds of the buckets, ascending. Default: times from 1 ms to 60 s. */
  histogram<Label extends string>(
    name: string,
    help: string,
    labels?: readonly Label[],
    bounds?: readonly number[],
  ): Histogram<Label>;
  request(endpoint: string, status: number, milliseconds: number): void;
  /** @param path `unranked`, or the kind of ranking: `exact` or `approximate` */
  search(path: 'unranked' | 'exact' | 'approximate', milliseconds: number): void;
  text(): Promise<{ readonly type: string; readonly text: string }>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** A separate registry: two services in one process, or two tests, do not share metrics. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const metrics: Omit<Metrics, 'request' | 'search' | 'text'> = {
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: [...labels], registers }),
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    },
    gauges(name, help, labels, read) {
      new Gauge({
        name,
        help,
        labelNames: [...labels],
        registers,
        async collect() {
          const rows = await read();
          this.reset();
          for (const { labels, value } of rows) this.set(labels, value);
        },
      });
    },
    histogram: (name, help, labels = [], bounds = SECONDS) =>
      new Histogram({ name, help, labelNames: [...labels], buckets: [...bounds], registers }),
  };
  const requests = metrics.histogram('akin_request_seconds', 'Time to answer a request', ['endpoint', 'status']);
  const searches = metrics.histogram('akin_search_seconds', 'Time of a search in the database, including its wait', [
    'path',
  ]);
  return {
    ...metrics,
    request: (endpoint, status, milliseconds) => {
      requests.observe({ endpoint, status: String(status) }, milliseconds / 1000);
    },
    search: (path, milliseconds) => searches.observe({ path }, milliseconds / 1000),
    text: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}
