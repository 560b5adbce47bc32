// What a fleet needs, computed from costs.json. No I/O.

/** The share of cores and threads that may be busy at the peak: waiting grows quickly beyond. */
const BUSY = 0.7;
/** Threads of a gateway that scan, at most. */
const MOST_THREADS = 4;
/** Bytes of a gateway or indexer without vectors. */
const PROCESS_BYTES = 0.5e9;
/** Documents of a shard, so that a vacuum or an index build of one takes minutes, not hours. A rule of thumb. */
const SHARD_DOCUMENTS = 25_000_000;
const MOST_SHARDS = 64;
/** A reindex fills a second copy. */
const COPIES = 2;

/**
 * @typedef {object} Need
 * @property {number} documents
 * @property {number} changes documents that are added or changed a second, at the peak, with outputs
 * @property {number} changesPerDay documents that are added or changed a day
 * @property {number} searches ranked searches a second, at the peak
 * @property {number} modules that are searched
 * @property {number} gatewayCores of each gateway
 * @property {number} postgresCores of each PostgreSQL server
 * @property {boolean} objects whether outputs and thumbnails are in object storage
 */

/** Below, vectors are held as they are, not as codes. */
const LEAST_CODED = 100_000;

const codedOf = (sizes) => sizes.filter(({ documents }) => documents >= LEAST_CODED);

/**
 * A figure of a scan at a number of documents: on the straight line that fits the measured sizes best.
 *
 * @param {readonly { documents: number }[]} sizes two of {@link LEAST_CODED} or more at least
 * @param {number} documents
 * @param {string} name of the figure
 */
export function along(sizes, documents, name) {
  const coded = codedOf(sizes);
  const mean = (of) => coded.reduce((sum, size) => sum + of(size), 0) / coded.length;
  const [x, y] = [mean((size) => size.documents), mean((size) => size[name])];
  const variance = mean((size) => (size.documents - x) ** 2);
  const slope = mean((size) => (size.documents - x) * (size[name] - y)) / variance;
  return Math.max(0, y + slope * (documents - x));
}

/** Bytes of a document and module at most: how full the last tables are depends on the number of documents. */
const bytesOf = (sizes) => Math.max(...codedOf(sizes).map(({ bytes }) => bytes));

/**
 * @param {Record<string, any>} costs see costs.json
 * @param {Need} need
 */
export function plan({ codes, change, search, sizes, sizesWithObjects }, need) {
  const { documents, changes, searches, modules, gatewayCores, postgresCores } = need;
  const bytes = need.objects ? sizesWithObjects : sizes;
  const threads = Math.min(MOST_THREADS, gatewayCores);
  const scanCpuMs = along(codes.sizes, documents, 'cpuMs');
  const scanMs = (along(codes.sizes, documents, 'ms') * codes.threads) / threads;
  // What a search takes besides the scan: HTTP, statements, documents of the page.
  const scan = codes.sizes.find((size) => size.documents === search.documents);
  const rest = (name, scanned) => Math.max(0, search[name] - (scan?.[scanned] ?? 0));
  const restCpuMs = rest('akinCpuMs', 'cpuMs');
  // One thread of a gateway does all but the scan.
  const searchMsOfGateway = Math.max(scanCpuMs / threads, restCpuMs, (scanCpuMs + restCpuMs) / gatewayCores);
  const searchesOfGateway = (BUSY * 1_000) / searchMsOfGateway;
  const [single, sharded] = [change.changes[0], change.changes.at(-1)];
  const writers = Math.ceil((changes * sharded.akinCpuMs) / 1_000 / BUSY);
  const shards = Math.min(MOST_SHARDS, Math.max(writers, Math.ceil(documents / SHARD_DOCUMENTS)));
  const each = shards > 1 ? sharded : single;
  const indexers = Math.max(2, writers);
  const coresFor = (perSecond, ms) => (perSecond * ms) / 1_000 / BUSY;
  // The indexers and one PostgreSQL apply side by side; the slower of them decides.
  const loadPerSecond =
    BUSY * 1_000 * Math.min(Math.min(indexers, shards) / each.akinCpuMs, postgresCores / each.postgresCpuMs);
  return {
    shards,
    indexers,
    gateways: Math.max(2, Math.ceil(searches / searchesOfGateway)),
    searchesOfGateway,
    searchMs: rest('ms', 'ms') + scanMs,
    scanCpuMs,
    gatewayBytes: documents * modules * bytesOf(codes.sizes) + PROCESS_BYTES,
    postgresCoresForChanges: coresFor(changes, each.postgresCpuMs),
    postgresCoresForSearches: coresFor(searches, search.postgresCpuMs),
    loadHours: documents / loadPerSecond / 3_600,
    diskBytes: documents * (bytes.tables + bytes.indexes) * COPIES,
    objectBytes: documents * bytes.objects * COPIES,
    logBytesPerDay: need.changesPerDay * bytes.log,
    descriptorBytes: documents * bytes.descriptor * modules,
  };
}

/**
 * Predicts each measured size from the smaller ones.
 *
 * @param {readonly { documents: number }[]} sizes rising
 */
export function predict({ sizes }) {
  return sizes.flatMap((measured, i) => {
    const known = sizes.slice(0, i);
    if (codedOf(known).length < 2) return [];
    const [cpuMs, ms] = ['cpuMs', 'ms'].map((name) => along(known, measured.documents, name));
    return [{ measured, predicted: { bytes: bytesOf(known), cpuMs, ms } }];
  });
}
