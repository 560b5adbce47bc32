import type { ErrorCode, ErrorDetail } from '@akin/domain';

/**
 * A result that is sent as JSON: members of an object, after the response header that `serve` adds. Those that are
 * undefined are left out.
 */
export interface JsonResult {
  readonly status?: number;
  /** Further members of `responseHeader`. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly warnings?: readonly string[] | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  /** Set if a part of the request failed and the rest succeeded. */
  readonly partial?: { readonly code: ErrorCode; readonly message: string; readonly details: readonly ErrorDetail[] };
  /** False for the few responses that have no `responseHeader`. */
  readonly enveloped?: boolean;
}

export interface BytesResult {
  readonly status?: number;
  readonly type: string;
  readonly bytes: Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A result that is sent piece by piece, no faster than the client reads, and is not kept in memory. */
export interface StreamResult {
  readonly status?: number;
  readonly type: string;
  /** Number of bytes. Absent: it goes on until the client disconnects or the data ends. */
  readonly length?: number;
  /** Called once, when the client wants the bytes. Ended early when the client disconnects. */
  readonly chunks: () => AsyncIterable<string | Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type HandlerResult = JsonResult | BytesResult | StreamResult;
