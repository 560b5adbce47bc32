import { AkinError, ERROR_CODES, type ErrorCode } from '@akin/domain';
import type { AnalyzeImage } from '@akin/gateway';
import { inSpan, traceHeaders } from '@akin/runtime';
import { serverOf } from '../download.ts';

/** Analysis depends on no collection, but its address names one. */
const PATH = '/api/cores/any/analyze';

/**
 * Has pictures analyzed over HTTP by analyzers and analyze nodes, in turn: one that does not answer, or is busy, leaves
 * the picture to the next.
 *
 * @param addresses such as `http://127.0.0.1:8984`; each may stand for several behind a load balancer
 * @param fleetKey what they ask for, where they listen beyond their machine
 */
export function analyzeRemotely(addresses: readonly string[], fleetKey?: string): AnalyzeImage {
  let turn = 0;
  return async (input, modules, { signal }) => {
    const form = new URLSearchParams({ 'modules.apply': modules.join(','), logParamsList: '' });
    if ('url' in input) form.set('input.url', input.url);
    else form.set('input.data', Buffer.from(input.bytes).toString('base64'));
    const body = form.toString();
    const first = turn++;
    let failure = new AkinError('unavailable', 'There is no analyzer.');
    for (let i = 0; i < addresses.length; i++) {
      const address = addresses[(first + i) % addresses.length] ?? '';
      try {
        const attributes = { 'http.request.method': 'POST', 'url.template': PATH, ...serverOf(address) };
        return await inSpan('POST', { kind: 'client', attributes }, () => ask(address, body, fleetKey, signal));
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof AkinError) || !['unavailable', 'too-many-requests'].includes(error.code)) throw error;
        failure = error;
      }
    }
    throw failure;
  };
}

async function ask(
  address: string,
  body: string,
  fleetKey: string | undefined,
  signal: AbortSignal | undefined,
): Promise<{ outputs: string }> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${address.replace(/\/$/, '')}${PATH}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...traceHeaders(),
        ...(fleetKey ? { authorization: `Bearer ${fleetKey}` } : {}),
      },
      body,
      ...(signal ? { signal } : {}),
    });
    text = await answer.text();
  } catch (cause) {
    throw new AkinError('unavailable', 'No analyzer can be reached for the picture of this request.', {
      cause,
      retryAfterSeconds: 2,
    });
  }
  const { outputs, error } = readAnswer(text);
  if (answer.ok && typeof outputs === 'string') return { outputs };
  if (answer.status === 401) {
    throw new AkinError('unavailable', 'The analyzers do not let this gateway in: both need the same AKIN_FLEET_KEY.');
  }
  const code = error?.metadata?.[1];
  const known = ERROR_CODES.find((one) => one === code) as ErrorCode | undefined;
  if (known === undefined || known === 'internal') {
    throw new AkinError('unavailable', 'An analyzer gave no answer that can be read.', { retryAfterSeconds: 2 });
  }
  throw new AkinError(known, error?.msg ?? 'The picture could not be analyzed.');
}

function readAnswer(text: string): { outputs?: unknown; error?: { msg?: string; metadata?: string[] } } {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
