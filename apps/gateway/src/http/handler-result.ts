import type { ErrorCode, ErrorDetail } from '@akin/domain';

/** A result that is sent as JSON: members of an object, after the response header that `serve` adds. */
export interface JsonResult {
  readonly status?: number;
  /** Further members of `responseHeader`. */
  readonly header?: Readonly<Record<string, unknown>>;
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

/** A result that is sent piece by piece until the client disconnects or the data ends. */
export interface StreamResult {
  readonly type: string;
  /** Events are read no faster than the client reads them. They end when the client disconnects. */
  readonly events: AsyncGenerator<string | Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A file, or a part of it, which is not kept in memory. */
export interface FileResult {
  readonly status?: number;
  readonly type: string;
  /** Number of bytes. */
  readonly length: number;
  /** Called once, when the client wants the bytes. */
  readonly read: () => AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type HandlerResult = JsonResult | BytesResult | StreamResult | FileResult;
