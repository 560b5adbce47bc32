import type { ServerResponse } from 'node:http';

/** A client that does not read for this time is disconnected. */
export const CLIENT_READ_TIMEOUT_MILLISECONDS = 30_000;

/**
 * Ends a response. Its bytes stay in memory until the client has read them, so a client that reads nothing for a while
 * is disconnected.
 */
export function endResponse(
  response: ServerResponse,
  bytes?: Uint8Array,
  milliseconds = CLIENT_READ_TIMEOUT_MILLISECONDS,
): void {
  response.end(bytes);
  // Usually the operating system takes all bytes at once.
  if (response.socket?.writableLength === 0) return;
  // Node closes a connection at its timeout, unless some of the bytes were written meanwhile. The timeout ends before
  // Node sets that of an idle connection, so that it does not apply to the next request.
  response.setTimeout(milliseconds).prependOnceListener('finish', () => response.setTimeout(0));
}
