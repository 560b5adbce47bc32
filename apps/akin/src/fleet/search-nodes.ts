import { inSpan, type Log, type Metrics, traceHeaders } from '@akin/runtime';
import { type NodeRequest, type NodeResponse, readResponse, type SearchNodes, writeRequest } from '@akin/store';
import {
  HEALTH_CHECK_TIMES,
  type HealthCheckTimes,
  PeerError,
  requireHealthy,
  sendWhileHealthy,
} from './health-check.ts';
import { type PeerAddress, PeerAddresses, type Resolve } from './peer-addresses.ts';

const PATH = 'internal/candidates';

interface NodeTimes extends HealthCheckTimes {
  /** Time limit for all nodes together. Then the database answers. */
  readonly responseMilliseconds: number;
  /** After this time without a response, another node with the same shards is asked too. */
  readonly hedgeMilliseconds: number;
  /** Time limit for nodes to read shards that none of them has in memory. */
  readonly readMilliseconds: number;
  /** If no node has some shard, all nodes are asked again after this time: one may have been restarted with it. */
  readonly retryMissingMilliseconds: number;
}

/** Limits the number of remembered addresses, which come and go. */
const MAX_REMEMBERED = 1_000;

const TIMES: NodeTimes = {
  ...HEALTH_CHECK_TIMES,
  responseMilliseconds: 20_000,
  hedgeMilliseconds: 1_000,
  readMilliseconds: 3_000,
  retryMissingMilliseconds: 5_000,
};

export interface SearchNodesConfig {
  /** For example `http://127.0.0.1:8986`. Each address of a host name counts as a node. */
  readonly urls: readonly string[];
  /** The key that nodes require if they listen beyond their machine. */
  readonly fleetKey?: string | undefined;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'counter' | 'gauges'>;
  readonly times?: Partial<NodeTimes>;
  /** How to resolve host names. Default: as the system does. */
  readonly resolve?: Resolve;
}

/** A node refuses this request (4xx). That says nothing about the health of the node. */
class NodeRefusedError extends Error {
  override readonly name = 'NodeRefusedError';
}

/** A request in progress. */
interface NodeCall {
  readonly body: string;
  /**
   * Milliseconds that nodes may take to read shards that they do not have in memory. They continue to read afterwards.
   */
  readonly readMilliseconds: number;
  /** Called for each node that may keep a shard and has not read it yet. */
  readonly onUnreadShard: () => void;
  /** Ends the remaining requests when all shards are answered. */
  readonly signal: AbortSignal;
}

/** None of the nodes that were not tried yet has some of the shards. */
class NoNodeForShardsError extends Error {
  override readonly name = 'NoNodeForShardsError';
  readonly shards: readonly number[];

  constructor(shards: readonly number[]) {
    super(`no search node that answers has the shards ${shards.join(', ')}`);
    this.shards = shards;
  }
}

/**
 * Asks search nodes over HTTP. Each response says which shards a node has; a node that was never asked may have any.
 * The shards of a search are divided among the nodes in turn. If a node fails, is slow or does not have its shards as
 * of the commit, the next node that has them is asked. The first response counts.
 */
export function searchNodes(config: SearchNodesConfig): SearchNodes {
  const { urls, fleetKey, log, metrics, resolve } = config;
  const times = { ...TIMES, ...config.times };
  const probe = requireHealthy(times);
  const addresses = new PeerAddresses({ kind: 'search node', urls, times, log, ...(resolve && { resolve }), probe });
  const shardsByNode = new Map<string, ReadonlySet<number> | undefined>();
  let forgottenAt = Number.NEGATIVE_INFINITY;
  /** Whether the last request was not answered. */
  let areMissing = false;
  const attempts = metrics.counter(
    'akin_search_node_attempts_total',
    'Requests to search nodes, by outcome: answered, in part, refused, failed, hung or given up because another node answered',
    ['node', 'outcome'],
  );
  const missed = metrics.counter(
    'akin_search_node_misses_total',
    'Requests that the database answered because no search node answered for some shard',
    [],
  );
  metrics.gauges(
    'akin_search_node_circuit_open',
    '1 if a search node is left out because it hangs or fails',
    ['node'],
    async () => addresses.all.map(({ name, breaker }) => ({ labels: { node: name }, value: Number(breaker.isOpen) })),
  );

  /** The shards of each node are forgotten now and then: a node that gets no requests cannot report other ones. */
  const forgetHeld = () => {
    if (performance.now() - forgottenAt < times.retryMissingMilliseconds) return;
    shardsByNode.clear();
    forgottenAt = performance.now();
  };
  const mayHold = ({ name }: PeerAddress, shard: number) => shardsByNode.get(name)?.has(shard) ?? true;

  /** @throws PeerError; the signal's reason */
  async function queryNode(node: PeerAddress, shards: readonly number[], asked: NodeCall): Promise<NodeResponse> {
    const { body, readMilliseconds, onUnreadShard, signal } = asked;
    const path = `${PATH}?shards=${shards.join(',')}&readMilliseconds=${readMilliseconds}`;
    const headers = {
      'content-type': 'application/json',
      ...traceHeaders(),
      ...(fleetKey ? { authorization: `Bearer ${fleetKey}` } : {}),
    };
    const count = (outcome: string) => attempts.inc({ node: node.name, outcome });
    try {
      const { status, text } = await sendWhileHealthy(node, { method: 'POST', path, headers, body, signal }, times);
      if (status === 401) throw new PeerError('failed', 'it refuses this gateway: both need the same AKIN_FLEET_KEY');
      if (status >= 400 && status < 500) throw new NodeRefusedError(`${node.name} answers ${status}`);
      if (status !== 200) throw new PeerError('failed', `it answers ${status}`);
      const response = readChecked(text, shards);
      if (shardsByNode.size > MAX_REMEMBERED) shardsByNode.clear();
      shardsByNode.set(node.name, response.assignedShards && new Set(response.assignedShards));
      node.breaker.succeeded();
      if (shards.some((shard) => !response.shards.includes(shard) && mayHold(node, shard))) onUnreadShard();
      count(response.shards.length === shards.length ? 'answered' : 'in part');
      return response;
    } catch (error) {
      if (error instanceof PeerError) {
        node.breaker.failed(error.message, error.outcome === 'hung');
        count(error.outcome);
      } else {
        count(error instanceof NodeRefusedError ? 'refused' : 'given up');
      }
      throw error;
    }
  }

  /** Asks nodes that were not tried yet about some shards. @throws NoNodeForShardsError; the signal's reason */
  async function queryShards(
    shards: readonly number[],
    nodes: readonly PeerAddress[],
    asked: NodeCall,
  ): Promise<readonly NodeResponse[]> {
    const groups: { node: PeerAddress; shards: number[] }[] = [];
    let left = shards;
    for (const node of nodes) {
      const own = left.filter((shard) => mayHold(node, shard));
      if (own.length === 0) continue;
      groups.push({ node, shards: own });
      left = left.filter((shard) => !own.includes(shard));
    }
    if (left.length > 0) throw new NoNodeForShardsError(left);
    const responses = await Promise.all(
      groups.map(({ node, shards }) =>
        queryHedged(
          node,
          shards,
          nodes.filter((one) => one !== node),
          asked,
        ),
      ),
    );
    return responses.flat();
  }

  /** Asks one node, and others if it fails, does not have all shards or is slow. The first complete response counts. */
  async function queryHedged(
    node: PeerAddress,
    shards: readonly number[],
    others: readonly PeerAddress[],
    { signal, ...request }: NodeCall,
  ): Promise<readonly NodeResponse[]> {
    const isLast = !shards.every((shard) => others.some((other) => mayHold(other, shard)));
    const over = new AbortController();
    const asked = { ...request, signal: AbortSignal.any([signal, over.signal]) };
    let elsewhere: Promise<readonly NodeResponse[]> | undefined;
    const askElsewhere = () => {
      elsewhere ??= queryShards(shards, others, asked);
      return elsewhere;
    };
    const first = queryNode(node, shards, asked).then(
      async (response) => {
        const missing = shards.filter((shard) => !response.shards.includes(shard));
        if (missing.length === 0) return [response];
        const fromOthers = async () => [
          ...(response.candidates ? [response] : []),
          ...(await queryShards(missing, others, asked)),
        ];
        // Others have already been asked for all of these, and may lack what this node has.
        return elsewhere?.catch(fromOthers) ?? fromOthers();
      },
      (error) => {
        if (asked.signal.aborted) throw error;
        return askElsewhere();
      },
    );
    let timer: NodeJS.Timeout | undefined;
    const second = new Promise<readonly NodeResponse[]>((resolve) => {
      if (isLast) return;
      timer = setTimeout(() => {
        // Is it slow, or does it hang?
        void probe(node).catch((error) => node.breaker.failed(error.message, true));
        askElsewhere().then(resolve, () => undefined);
      }, times.hedgeMilliseconds);
    });
    try {
      return await Promise.race([first, second]);
    } finally {
      clearTimeout(timer);
      over.abort();
      first.catch(() => undefined);
      elsewhere?.catch(() => undefined);
    }
  }

  async function queryAllShards(request: NodeRequest, signal: AbortSignal): Promise<readonly NodeResponse[]> {
    const shards = Array.from({ length: request.shards }, (_, shard) => shard);
    const nodes = await addresses.inTurn();
    let areUnread = false;
    const onUnreadShard = () => {
      areUnread = true;
    };
    const asked = { body: writeRequest(request), readMilliseconds: 0, onUnreadShard, signal };
    try {
      return await queryShards(shards, nodes, asked);
    } catch (error) {
      if (!(error instanceof NoNodeForShardsError) || !areUnread) throw error;
      return queryShards(shards, nodes, { ...asked, readMilliseconds: times.readMilliseconds });
    }
  }

  /** Answers for those shards that nodes have read. */
  async function queryAvailableShards(request: NodeRequest, signal: AbortSignal): Promise<readonly NodeResponse[]> {
    const asked = { body: writeRequest(request), readMilliseconds: 0, onUnreadShard: () => {}, signal };
    let shards = Array.from({ length: request.shards }, (_, shard) => shard);
    while (shards.length > 0) {
      try {
        // Each time without nodes that were found to hang.
        return await queryShards(shards, await addresses.inTurn(), asked);
      } catch (error) {
        if (!(error instanceof NoNodeForShardsError)) throw error;
        shards = shards.filter((shard) => !error.shards.includes(shard));
      }
    }
    return [];
  }

  return {
    async findCandidates(
      request,
      { milliseconds = times.responseMilliseconds, signal: asker, acceptsPartial = false } = {},
    ) {
      const over = new AbortController();
      // A signal of AbortSignal.timeout() that only AbortSignal.any() references may be garbage-collected too early.
      const late = setTimeout(
        () => over.abort(new Error('the search nodes do not answer in time')),
        Math.min(times.responseMilliseconds, Math.floor(milliseconds)),
      );
      const signal = asker === undefined ? over.signal : AbortSignal.any([over.signal, asker]);
      const work = acceptsPartial ? queryAvailableShards : queryAllShards;
      try {
        const responses = await inSpan('search nodes', { kind: 'internal' }, () => work(request, signal));
        if (acceptsPartial) return responses;
        if (areMissing) log.info({}, 'search nodes answer for all shards again');
        areMissing = false;
        return responses;
      } catch (err) {
        if (asker?.aborted || acceptsPartial) return undefined;
        missed.inc({});
        if (err instanceof NoNodeForShardsError) forgetHeld();
        if (!areMissing) log.warn({ err }, 'no search node answers for some shards: the database is searched');
        areMissing = true;
        return err instanceof NoNodeForShardsError ? [] : undefined;
      } finally {
        clearTimeout(late);
        over.abort();
      }
    },
  };
}

/** @throws PeerError for a response that a healthy node does not give */
function readChecked(text: string, shards: readonly number[]): NodeResponse {
  try {
    const response = readResponse(text);
    if (response.shards.every((shard) => shards.includes(shard))) return response;
  } catch (error) {
    throw new PeerError('failed', 'its response cannot be read', error);
  }
  throw new PeerError('failed', 'it answers for other shards');
}
