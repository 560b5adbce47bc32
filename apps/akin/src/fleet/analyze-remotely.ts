import { AkinError, ERROR_CODES } from '@akin/domain';
import type { Analysis, AnalyzeImage } from '@akin/gateway';
import { inSpan, type Log, type Metrics, traceHeaders } from '@akin/runtime';
import { serverOf } from '../download.ts';
import {
  HEALTH_CHECK_TIMES,
  type HealthCheckTimes,
  PeerError,
  requireHealthy,
  sendWhileHealthy,
} from './health-check.ts';
import { type PeerAddress, PeerAddresses, type Resolve } from './peer-addresses.ts';
import type { Peer, PeerResponse } from './send.ts';

/** Analysis does not depend on the collection, but the path contains one. */
const PATH = 'api/cores/any/analyze';

export interface RemoteConfig {
  readonly urls: readonly string[];
  /** The key that analyzers require if they listen beyond their machine. */
  readonly fleetKey?: string | undefined;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'gauges'>;
  readonly times?: Partial<HealthCheckTimes>;
  readonly resolve?: Resolve;
}

/**
 * Has pictures analyzed over HTTP by analyzers and analyze nodes, in turn. If one hangs, fails or is busy, the next one
 * gets the picture. One that hangs, or fails several times, is left out until it answers a health check. An error about
 * the picture itself is final: no other analyzer is tried. An analysis has no time limit while its analyzer is healthy,
 * because such a picture takes long everywhere. The signal of the caller ends it.
 */
export function analyzeRemotely(config: RemoteConfig): AnalyzeImage {
  const { urls, fleetKey, log, metrics, resolve } = config;
  const times = { ...HEALTH_CHECK_TIMES, ...config.times };
  const probe = (peer: Peer) => requireHealthy(peer, times);
  const addresses = new PeerAddresses({ ...times, urls, log, resolve, probe });
  metrics.gauges(
    'akin_analyzer_circuit_open',
    '1 if an analyzer is left out because it hangs or fails, by address',
    ['analyzer'],
    async () => addresses.all.map(({ name, isLeftOut }) => ({ labels: { analyzer: name }, value: Number(isLeftOut) })),
  );

  /** @returns what it said about the picture, or undefined if another analyzer should be asked */
  async function attempt(address: PeerAddress, body: string, signal: AbortSignal): Promise<Attempt> {
    const { url, ip } = address;
    const attributes = {
      'http.request.method': 'POST',
      'url.template': `/${PATH}`,
      ...serverOf(url.href),
      'network.peer.address': ip,
    };
    try {
      const said = await inSpan('POST', { kind: 'client', attributes }, () =>
        ask(address, { body, fleetKey, times, signal }),
      );
      addresses.succeeded(address);
      return said;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PeerError)) throw error;
      addresses.failed(address, error.message, error.outcome === 'hung');
      return { busy: unavailable('No analyzer can be reached for the picture of this request.', error) };
    }
  }

  return async (input, modules, options) => {
    const { thumbnail = false, facts, model, region, soughtPoints, signal = new AbortController().signal } = options;
    const form = new URLSearchParams({ 'modules.apply': modules.join(','), logParamsList: '' });
    if ('text' in input) form.set('input.text', input.text);
    else if ('url' in input) form.set('input.url', input.url);
    else form.set('input.data', Buffer.from(input.bytes).toString('base64'));
    if (thumbnail) form.set('thumbnail', 'true');
    if (facts) form.set('fields', 'true');
    if (facts?.name) form.set('input.name', facts.name);
    if (model !== undefined) form.set('model', model);
    if (soughtPoints) form.set('parts.sought', 'true');
    if (region) form.set('input.region', [region.x, region.y, region.width, region.height].join());
    const body = form.toString();
    let busy: AkinError | undefined;
    const lacking: AkinError[] = [];
    for (const address of await addresses.inTurn()) {
      // Those that are left out are the last chance, one of them for each picture.
      if (address.isLeftOut && busy !== undefined) continue;
      const said = await attempt(address, body, signal);
      if ('outputs' in said) return said;
      if ('refused' in said) throw said.refused;
      if ('busy' in said) busy = said.busy;
      else lacking.push(said.modelMissing);
    }
    // A busy or broken analyzer may have it.
    if (lacking.length > 0 && busy === undefined) throw modelMissingEverywhere(model, lacking);
    throw busy ?? unavailable('No analyzer can be reached for the picture of this request.', lacking[0]);
  };
}

/** The outcome of one request to an analyzer. `busy`: another one may do it. */
type Attempt =
  | Analysis
  | { readonly refused: AkinError }
  | { readonly busy: AkinError }
  /** It does not have the model, or cannot use it. */
  | { readonly modelMissing: AkinError };

interface AnalyzeCall {
  readonly body: string;
  readonly fleetKey: string | undefined;
  readonly times: HealthCheckTimes;
  readonly signal: AbortSignal;
}

async function ask(peer: Peer, { body, fleetKey, times, signal }: AnalyzeCall): Promise<Attempt> {
  const sending = {
    method: 'POST',
    path: PATH,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...traceHeaders(),
      ...(fleetKey ? { authorization: `Bearer ${fleetKey}` } : {}),
    },
    body,
    signal,
  } as const;
  return read(await sendWhileHealthy(peer, sending, times));
}

/** @throws PeerError for a response that a healthy analyzer does not give */
function read({ status, retryAfter, text }: PeerResponse): Attempt {
  const { outputs, thumbnail, fields, error, responseHeader } = parseResponse(text);
  if (status === 200 && typeof outputs === 'string') {
    const { warnings } = responseHeader ?? {};
    return {
      outputs,
      ...(typeof thumbnail === 'string' && { thumbnail: Buffer.from(thumbnail, 'base64') }),
      ...(fields && { fields }),
      ...(warnings && { warnings }),
    };
  }
  const retryAfterSeconds = Number(retryAfter) || 2;
  if (status === 401) {
    throw new PeerError('failed', 'it refuses this gateway: both need the same AKIN_FLEET_KEY');
  }
  const code = ERROR_CODES.find((one) => one === error?.metadata?.[1]);
  if (code === undefined || code === 'unavailable') throw new PeerError('failed', `it answers ${status}`);
  // Its worker thread failed, perhaps because of this picture. So this does not count against the analyzer.
  if (code === 'internal') return { busy: unavailable('The analysis of the picture failed.') };
  const said = new AkinError(code, error?.msg ?? 'The picture could not be analyzed.', { retryAfterSeconds });
  if (code === 'conflict') return { modelMissing: said };
  return code === 'too-many-requests' ? { busy: said } : { refused: said };
}

function parseResponse(text: string): {
  responseHeader?: { warnings?: string[] };
  outputs?: unknown;
  thumbnail?: unknown;
  fields?: Record<string, string | number>;
  error?: { msg?: string; metadata?: string[] };
} {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

function modelMissingEverywhere(model: string | undefined, errors: readonly AkinError[]): AkinError {
  const all = [...new Set(errors.map(({ message }) => message))].join(' ');
  return new AkinError(
    'conflict',
    `No analyzer can use the content model ${model}. Their responses: ${all} Download the model into the folder of models of the analyzers (akin models pull, --models), and restart them.`,
    { cause: errors[0] },
  );
}

function unavailable(message: string, cause?: unknown): AkinError {
  return new AkinError('unavailable', message, { cause, retryAfterSeconds: 2 });
}
