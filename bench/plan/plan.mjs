// What a fleet needs, computed from costs.json. No I/O.

/** The share of cores and threads that may be busy at the peak: waiting grows quickly beyond. */
const BUSY = 0.7;
/** Maximum number of threads of a gateway that scan. */
const MAX_THREADS = 4;
/** Bytes of a gateway or indexer without vectors. */
const PROCESS_BYTES = 0.5e9;
/** Documents of a shard, so that a vacuum or an index build of one takes minutes, not hours. A rule of thumb. */
const SHARD_DOCUMENTS = 25_000_000;
export const MAX_SHARDS = 64;
/** A reindex fills a second copy. */
const COPIES = 2;
/** Search nodes that hold each shard: one may die. */
const MIN_NODES = 2;
/** Of the memory of a search node for codes: the rest is for filters, a bit for each document. */
const CODES_SHARE = 0.8;

/**
 * @typedef {object} Need
 * @property {number} documents
 * @property {number} changes documents that are added or changed a second, at the peak, with outputs
 * @property {number} changesPerDay documents that are added or changed a day
 * @property {number} searches ranked searches a second, at the peak
 * @property {number} modules that are searched
 * @property {number} gatewayCores of each gateway
 * @property {number} postgresCores of each PostgreSQL server
 * @property {number} nodeBytes memory of each search node, above {@link PROCESS_BYTES}
 * @property {boolean} objects whether outputs and thumbnails are in object storage
 */

/** Below, vectors are held as they are, not as codes. */
const MIN_CODED = 100_000;

const codedOf = (sizes) => sizes.filter(({ documents }) => documents >= MIN_CODED);

/**
 * A figure of a scan at a number of documents: on the line through the measured sizes on both sides, or through the two
 * nearest ones. No line fits all sizes: a document costs more than twice as much once the codes that are read in each
 * scan do not fit into the cache of the processor. So further sizes are only predicted by two that do not either.
 *
 * @param {readonly { documents: number }[]} sizes rising; two of {@link MIN_CODED} or more at least
 * @param {number} documents
 * @param {string} name of the figure
 */
export function along(sizes, documents, name) {
  const coded = codedOf(sizes);
  const above = coded.findIndex((size, i) => i > 0 && documents <= size.documents);
  const [left, right] = above === -1 ? coded.slice(-2) : coded.slice(above - 1, above + 1);
  const slope = (right[name] - left[name]) / (right.documents - left.documents);
  return Math.max(0, left[name] + slope * (documents - left.documents));
}

/** Bytes of a document and module at most: how full the last tables are depends on the number of documents. */
const bytesOf = (sizes) => Math.max(...codedOf(sizes).map(({ bytes }) => bytes));

/**
 * Search nodes that hold the codes instead of gateways, with as many cores as those. Only the scan is counted.
 *
 * @param {Record<string, any>} codes
 * @param {Need} need
 * @param {number} shards number of shards that the other needs require
 * @returns undefined where a single node holds all
 */
function planNodes(codes, { documents, searches, modules, gatewayCores, nodeBytes }, shards) {
  const bytes = documents * modules * bytesOf(codes.sizes);
  // A group holds whole shards, each group as many.
  const groups = Math.ceil(bytes / ((nodeBytes - PROCESS_BYTES) * CODES_SHARE));
  if (groups === 1) return undefined;
  const scan = scanOf(codes, documents / groups, gatewayCores);
  // A search asks one node of each group.
  const searchesOfNode = (BUSY * 1_000) / scan.busyMs;
  return {
    shards: groups * Math.ceil(shards / groups),
    nodes: groups * Math.max(MIN_NODES, Math.ceil(searches / searchesOfNode)),
    scanMs: scan.ms,
  };
}

/** A scan of so many documents: its processor time, its time alone, and how long it keeps all threads busy. */
function scanOf(codes, documents, cores) {
  const threads = Math.min(MAX_THREADS, cores);
  const cpuMs = along(codes.sizes, documents, 'cpuMs');
  return { cpuMs, ms: (along(codes.sizes, documents, 'ms') * codes.threads) / threads, busyMs: cpuMs / threads };
}

/**
 * @param {Record<string, any>} costs see costs.json
 * @param {Need} need
 */
export function plan({ codes, change, search, sizes, sizesWithObjects }, need) {
  const { documents, changes, searches, modules, gatewayCores, postgresCores } = need;
  const bytes = need.objects ? sizesWithObjects : sizes;
  const scan = scanOf(codes, documents, gatewayCores);
  // What a search takes besides the scan: HTTP, statements, documents of the page.
  const scanned = codes.sizes.find((size) => size.documents === search.documents);
  const rest = (name, part) => Math.max(0, search[name] - (scanned?.[part] ?? 0));
  const restCpuMs = rest('akinCpuMs', 'cpuMs');
  // One thread of a gateway does all but the scan.
  const searchMsOfGateway = Math.max(scan.busyMs, restCpuMs, (scan.cpuMs + restCpuMs) / gatewayCores);
  const searchesOfGateway = (BUSY * 1_000) / searchMsOfGateway;
  const gatewaysFor = (ms) => Math.max(2, Math.ceil((searches * ms) / 1_000 / BUSY));
  const [single, sharded] = [change.changes[0], change.changes.at(-1)];
  const writers = Math.ceil((changes * sharded.akinCpuMs) / 1_000 / BUSY);
  const shards = Math.min(MAX_SHARDS, Math.max(writers, Math.ceil(documents / SHARD_DOCUMENTS)));
  const each = shards > 1 ? sharded : single;
  const nodes = planNodes(codes, need, shards);
  const indexers = Math.max(2, writers);
  const coresFor = (perSecond, ms) => (perSecond * ms) / 1_000 / BUSY;
  // The indexers and one PostgreSQL apply side by side; the slower of them decides.
  const loadPerSecond =
    BUSY * 1_000 * Math.min(Math.min(indexers, shards) / each.akinCpuMs, postgresCores / each.postgresCpuMs);
  return {
    shards,
    indexers,
    gateways: gatewaysFor(searchMsOfGateway),
    searchesOfGateway,
    searchMs: rest('ms', 'ms') + scan.ms,
    scanCpuMs: scan.cpuMs,
    withNodes: nodes && {
      shards: nodes.shards,
      nodes: nodes.nodes,
      gateways: gatewaysFor(restCpuMs),
      searchMs: rest('ms', 'ms') + nodes.scanMs,
    },
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
