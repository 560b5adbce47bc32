import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest } from '@akin/domain';

const STATUS_OF_PARSER_ERROR: Readonly<Record<string, { readonly status: string; readonly msg: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    msg: 'Address and headers are too long: send the parameters as a form body.',
  },
  HPE_INVALID_URL: {
    status: '400 Bad Request',
    msg: 'The URL is invalid, or contains characters such as ü or 图: percent-encode them (curl: -G --data-urlencode).',
  },
  HPE_INVALID_CONSTANT: {
    status: '400 Bad Request',
    msg: 'No HTTP version follows the URL: encode blanks in it as %20 (curl: -G --data-urlencode).',
  },
  HPE_INVALID_EOF_STATE: { status: '400 Bad Request', msg: 'The connection ended before the request did.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', msg: 'The headers took too long to arrive.' },
};

/** Answers requests that Node's parser refuses, in the format of all errors. */
export function rejectMalformedRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, msg } = STATUS_OF_PARSER_ERROR[error.code ?? ''] ?? {
    status: '400 Bad Request',
    msg: 'This is not an HTTP request.',
  };
  const code = Number.parseInt(status, 10);
  const body = JSON.stringify({
    responseHeader: { status: code, QTime: 0 },
    error: { metadata: ['error-class', 'bad-request'], msg, code },
  });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Headers that decide who asks for what, and how the body is read. Node uses the first, a proxy may use the last. */
const SINGLE_HEADERS: readonly string[] = ['host', 'authorization', 'content-type', 'origin'];

/**
 * Refuses what Node's parser lets pass although a proxy in front may understand it otherwise (RFC 9112, sections 3.2 and
 * 6.1).
 *
 * @throws AkinError bad-request
 */
export function checkHeaders({ headers, rawHeaders }: IncomingMessage): void {
  const seen = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (!SINGLE_HEADERS.includes(name)) continue;
    if (seen.has(name)) throw badRequest(`The header ${rawHeaders[i]} came twice: send it once.`);
    seen.add(name);
  }
  const encoding = headers['transfer-encoding'];
  if (encoding === undefined || /^\s*chunked\s*$/i.test(encoding)) return;
  throw badRequest(
    'Of the transfer encodings only chunked is read: say with Content-Encoding how the body is compressed.',
  );
}
