import type { IncomingMessage } from 'node:http';
import { badRequest } from '@akin/domain';

/**
 * The key of a request: the header `X-API-Key`, or in `Authorization` a Bearer token or the password of Basic, the only
 * way of old clients. If both headers are sent, `X-API-Key` counts: the other one may be for a proxy in front. Never a
 * parameter, because URLs appear in logs, histories and `Referer`.
 *
 * @throws AkinError bad-request for a header that is sent twice, because two programs could read different ones
 */
export function readCredential(request: IncomingMessage): string | undefined {
  return singleHeader(request, 'x-api-key')?.trim() ?? readAuthorization(singleHeader(request, 'authorization'));
}

function singleHeader(request: IncomingMessage, name: string): string | undefined {
  // Most requests have neither header, and the distinct ones are all made at the first use.
  if (request.headers[name] === undefined) return undefined;
  const values = request.headersDistinct[name] ?? [];
  if (values.length > 1) throw badRequest(`The header ${name} was sent more than once.`);
  return values[0];
}

function readAuthorization(header: string | undefined): string | undefined {
  const [, scheme = '', token = ''] = /^\s*(\S+)\s+(\S+)\s*$/.exec(header ?? '') ?? [];
  if (/^bearer$/i.test(scheme)) return token;
  if (!/^basic$/i.test(scheme)) return undefined;
  const pair = Buffer.from(token, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}
