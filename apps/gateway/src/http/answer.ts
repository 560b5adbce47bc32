import type { ErrorCode, ErrorDetail } from '@akin/domain';

/** The answer of a handler: members of a JSON object, after the response header that `serve` adds. */
export interface JsonAnswer {
  readonly status?: number;
  /** Further members of `responseHeader`. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Set if a part of the request failed and the rest succeeded. */
  readonly partial?: { readonly code: ErrorCode; readonly message: string; readonly details: readonly ErrorDetail[] };
  /** False for the few answers that have no `responseHeader`. */
  readonly enveloped?: boolean;
}

/** An answer that is not JSON. */
export interface BytesAnswer {
  readonly status?: number;
  readonly type: string;
  readonly bytes: Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that continues until the client disconnects or the data ends. */
export interface StreamAnswer {
  readonly type: string;
  /** Events are read no faster than the client reads them. They end when the client disconnects. */
  readonly events: AsyncGenerator<string | Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A file, or a part of it, which is not kept in memory. */
export interface FileAnswer {
  readonly status?: number;
  readonly type: string;
  /** Number of bytes. */
  readonly length: number;
  /** Called once, when the client wants the bytes. */
  readonly read: () => AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Answer = JsonAnswer | BytesAnswer | StreamAnswer | FileAnswer;
