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

/**
 * A figure at a number of documents: on lines through the measured sizes, beyond the last on the line of the last two.
 *
 * @param {readonly { documents: number }[]} sizes rising, two at least
 * @param {number} documents
 * @param {string} name of the figure
 */
export function along(sizes, documents, name) {
  const next = sizes.findIndex((size, i) => i > 0 && documents <= size.documents);
  const i = next < 0 ? sizes.length - 1 : next;
  const [from, to] = [sizes[i - 1], sizes[i]];
  const slope = (to[name] - from[name]) / (to.documents - from.documents);
  return Math.max(0, to[name] + slope * (documents - to.documents));
}

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
  const rest = (name, scanned) => Math.max(0, search[name] - along(codes.sizes, search.documents, scanned));
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
    gatewayBytes: documents * modules * along(codes.sizes, documents, 'bytes') + PROCESS_BYTES,
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
 * Predicts sizes that were measured from smaller ones.
 *
 * @param {readonly { documents: number }[]} sizes
 * @param {number} seeds sizes up to this number of documents are what it is predicted from
 */
export function predict({ sizes }, seeds) {
  const known = sizes.filter(({ documents }) => documents <= seeds);
  return sizes
    .filter(({ documents }) => documents > seeds)
    .map((measured) => {
      const predicted = Object.fromEntries(
        ['bytes', 'cpuMs', 'ms'].map((name) => [name, along(known, measured.documents, name)]),
      );
      return { measured, predicted };
    });
}
