// Computes what a fleet needs from the contents of costs.json, without I/O.

/** Maximum utilization of cores and threads at the peak. Above it, waiting times grow quickly. */
const MAX_UTILIZATION = 0.7;
/** Maximum number of threads of a gateway that scan. */
const MAX_THREADS = 4;
/** Memory of a gateway or indexer without vectors, in bytes. */
const PROCESS_BYTES = 0.5e9;
/**
 * Number of documents of a shard for which a vacuum or an index build takes minutes, not hours. This is a rule of
 * thumb.
 */
const SHARD_DOCUMENTS = 25_000_000;
const MAX_SHARDS = 64;
/** Number of copies of the data on disk: a reindex fills a second one. */
const COPIES = 2;

/**
 * @typedef {object} Need
 * @property {number} documents
 * @property {number} changes documents with outputs that are added or changed per second, at the peak
 * @property {number} changesPerDay documents that are added or changed per day
 * @property {number} searches ranked searches per second, at the peak
 * @property {number} modules number of modules that are searched
 * @property {number} gatewayCores cores of each gateway
 * @property {number} postgresCores cores of each PostgreSQL server
 */

/** With fewer documents, memory has the vectors themselves, not codes. */
const MIN_CODED = 100_000;

const codedOf = (sizes) => sizes.filter(({ documents }) => documents >= MIN_CODED);

/**
 * Estimates a figure of a scan for a number of documents. The estimate lies on the line through the next smaller and
 * the next larger measured size. If one of them is missing, it lies on the line through the two nearest sizes. No line
 * fits all sizes: a document costs more than twice as much if the codes that each scan reads do not fit into the cache
 * of the processor. So the two largest sizes, which both do not fit, predict all larger ones.
 *
 * @param {readonly { documents: number }[]} sizes in ascending order; at least two have {@link MIN_CODED} documents or
 *   more
 * @param {number} documents
 * @param {string} name of the figure
 */
export function interpolate(sizes, documents, name) {
  const coded = codedOf(sizes);
  const above = coded.findIndex((size, i) => i > 0 && documents <= size.documents);
  const [left, right] = above === -1 ? coded.slice(-2) : coded.slice(above - 1, above + 1);
  const slope = (right[name] - left[name]) / (right.documents - left.documents);
  return Math.max(0, left[name] + slope * (documents - left.documents));
}

/**
 * Maximum number of bytes of a document and module. It varies with the number of documents, because the last tables may
 * not be full.
 */
const bytesOf = (sizes) => Math.max(...codedOf(sizes).map(({ bytes }) => bytes));

/**
 * Estimates a scan of some documents: its CPU time, its elapsed time without other load, and how long it keeps all
 * threads busy.
 */
function scanOf(codes, documents, cores) {
  const threads = Math.min(MAX_THREADS, cores);
  const cpuMs = interpolate(codes.sizes, documents, 'cpuMs');
  return { cpuMs, ms: (interpolate(codes.sizes, documents, 'ms') * codes.threads) / threads, busyMs: cpuMs / threads };
}

/**
 * @param {Record<string, any>} costs see costs.json
 * @param {Need} need
 */
export function plan({ codes, change, search, sizes }, need) {
  const { documents, changes, searches, modules, gatewayCores, postgresCores } = need;
  const scan = scanOf(codes, documents, gatewayCores);
  // The rest is the time of a search without the scan: HTTP, SQL, and the documents of the page.
  const scanned = codes.sizes.find((size) => size.documents === search.documents);
  const rest = (name, part) => Math.max(0, search[name] - (scanned?.[part] ?? 0));
  const restCpuMs = rest('akinCpuMs', 'cpuMs');
  // One thread of a gateway does all but the scan.
  const searchMsOfGateway = Math.max(scan.busyMs, restCpuMs, (scan.cpuMs + restCpuMs) / gatewayCores);
  const searchesOfGateway = (MAX_UTILIZATION * 1_000) / searchMsOfGateway;
  const gatewaysFor = (ms) => Math.max(2, Math.ceil((searches * ms) / 1_000 / MAX_UTILIZATION));
  const [single, sharded] = [change.changes[0], change.changes.at(-1)];
  const writers = Math.ceil((changes * sharded.akinCpuMs) / 1_000 / MAX_UTILIZATION);
  const shards = Math.min(MAX_SHARDS, Math.max(writers, Math.ceil(documents / SHARD_DOCUMENTS)));
  const each = shards > 1 ? sharded : single;
  const indexers = Math.max(2, writers);
  const coresFor = (perSecond, ms) => (perSecond * ms) / 1_000 / MAX_UTILIZATION;
  // The indexers and one PostgreSQL apply side by side; the slower of them decides.
  const loadPerSecond =
    MAX_UTILIZATION * 1_000 * Math.min(Math.min(indexers, shards) / each.akinCpuMs, postgresCores / each.postgresCpuMs);
  return {
    shards,
    indexers,
    gateways: gatewaysFor(searchMsOfGateway),
    searchesOfGateway,
    searchMs: rest('ms', 'ms') + scan.ms,
    scanCpuMs: scan.cpuMs,
    gatewayBytes: documents * modules * bytesOf(codes.sizes) + PROCESS_BYTES,
    postgresCoresForChanges: coresFor(changes, each.postgresCpuMs),
    postgresCoresForSearches: coresFor(searches, search.postgresCpuMs),
    loadHours: documents / loadPerSecond / 3_600,
    diskBytes: documents * (sizes.tables + sizes.indexes) * COPIES,
    logBytesPerDay: need.changesPerDay * sizes.log,
    descriptorBytes: documents * sizes.descriptor * modules,
  };
}

/**
 * Predicts each measured size from the smaller ones.
 *
 * @param {readonly { documents: number }[]} sizes in ascending order
 */
export function predict({ sizes }) {
  return sizes.flatMap((measured, i) => {
    const known = sizes.slice(0, i);
    if (codedOf(known).length < 2) return [];
    const [cpuMs, ms] = ['cpuMs', 'ms'].map((name) => interpolate(known, measured.documents, name));
    return [{ measured, predicted: { bytes: bytesOf(known), cpuMs, ms } }];
  });
}
