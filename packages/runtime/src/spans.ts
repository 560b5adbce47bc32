/**
 * Spans: the steps of work for a request, their duration, and their relations, across processes. Without
 * `startTracing`, all of this does nothing.
 */

/** Values without a definition are omitted. Never the data of users or clients: only numbers, names and states. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface SpanOptions {
  /** Default: `internal`, for work that neither calls another process nor answers one. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: Attributes;
  /**
   * The `traceparent` of the parent span, perhaps in another process. Null, or an invalid one: no parent. Default: the
   * active span.
   */
  readonly parent?: string | null;
  /** The `tracestate` of the parent. */
  readonly tracestate?: string | undefined;
  /** The `traceparent` of every other related span. */
  readonly links?: readonly string[];
}

export interface Span {
  set(attributes: Attributes): void;
  link(traceparent: string): void;
}

export interface OpenSpan extends Span {
  rename(name: string): void;
  run<Value>(work: () => Value): Value;
  /** Marks this span as failed. @param type the type of the error, for example a code: never its text */
  fail(type: string): void;
  end(): void;
}

export interface Tracer {
  open(name: string, options: SpanOptions): OpenSpan;
  detached<Value>(work: () => Value): Value;
  headers(): Readonly<Record<string, string>>;
  ids(): { readonly trace_id: string; readonly span_id: string } | undefined;
}

const NOTHING = Object.freeze({});
const NO_SPAN: Span = { set() {}, link() {} };

let tracer: Tracer | undefined;

/** Turns traces on or off, for the whole process, like the active span. */
export function setTracer(one: Tracer | undefined): void {
  tracer = one;
}

/** Runs some work in a span, which ends with it. An error marks the span by its type, not by its text. */
export async function inSpan<Value>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<Value>,
): Promise<Value> {
  if (tracer === undefined) return work(NO_SPAN);
  const span = tracer.open(name, options);
  try {
    return await span.run(() => work(span));
  } catch (error) {
    span.fail(errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Undefined if traces are off. */
export function openSpan(name: string, options: () => SpanOptions): OpenSpan | undefined {
  return tracer?.open(name, options());
}

/**
 * Runs some work without a span: for work that outlives the request that started it, and would otherwise count as part
 * of it forever.
 */
export function withoutSpan<Value>(work: () => Value): Value {
  return tracer === undefined ? work() : tracer.detached(work);
}

/** Headers (`traceparent`) that let another process continue the active trace. Empty if there is none. */
export function traceHeaders(): Readonly<Record<string, string>> {
  return tracer?.headers() ?? NOTHING;
}

/** The `traceparent` of the active span, for later work in other processes as `parent`. */
export function traceparent(): string | undefined {
  return tracer?.headers().traceparent;
}

/** The fields of log lines about the active span: `trace_id` and `span_id`. */
export function traceFields(): object {
  return tracer?.ids() ?? NOTHING;
}

function errorType(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const type = typeof code === 'string' ? code : name;
  return typeof type === 'string' && /^[\w.-]{1,64}$/.test(type) ? type : '_OTHER';
}
