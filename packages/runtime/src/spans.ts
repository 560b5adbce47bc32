/**
 * Spans: what was done for a request, how long it took, and what belongs together, across processes. Where traces are
 * off, which is so until `startTracing`, all of this does nothing.
 */

/** Values without a definition are left out. Never what users store, ask for or send: figures, names and states alone. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface SpanOptions {
  /** `internal` when not given: neither asks another process nor answers one. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: Attributes;
  /**
   * The `traceparent` of the span that this one is part of, perhaps in another process; null: of none, and so is one that
   * cannot be read. When not given, it is part of the span at work.
   */
  readonly partOf?: string | null;
  /** The `tracestate` that came with it. */
  readonly tracestate?: string | undefined;
  /** Every `traceparent` of spans that have to do with this one, too. */
  readonly links?: readonly string[];
}

export interface Span {
  set(attributes: Attributes): void;
  /** Says that it has to do with another one. @param traceparent of that one */
  link(traceparent: string): void;
}

/** A span that its owner ends. */
export interface OpenSpan extends Span {
  rename(name: string): void;
  /** Does some work as part of it. */
  run<Value>(work: () => Value): Value;
  /** Says that what it is about went wrong. @param type of the error, such as a code: never its text */
  fail(type: string): void;
  end(): void;
}

/** What makes spans where traces are on. */
export interface SpanMaker {
  open(name: string, options: SpanOptions): OpenSpan;
  /** Does some work as part of no span. */
  apart<Value>(work: () => Value): Value;
  /** Headers that tell another process of the span at work. */
  headers(): Readonly<Record<string, string>>;
  /** The ids of the span at work. */
  ids(): { readonly trace_id: string; readonly span_id: string } | undefined;
}

const NOTHING = Object.freeze({});
const NO_SPAN: Span = { set() {}, link() {} };

let maker: SpanMaker | undefined;

/** Turns traces on, or off. They are of the whole process, as the span at work is. */
export function setSpanMaker(one: SpanMaker | undefined): void {
  maker = one;
}

/** Does some work in a span, which ends with it. What the work throws marks the span by its type, not by its text. */
export async function inSpan<Value>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<Value>,
): Promise<Value> {
  if (maker === undefined) return work(NO_SPAN);
  const span = maker.open(name, options);
  try {
    return await span.run(() => work(span));
  } catch (error) {
    span.fail(errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Begins a span that `end` ends; undefined where traces are off. */
export function openSpan(name: string, options: () => SpanOptions): OpenSpan | undefined {
  return maker?.open(name, options());
}

/**
 * Does some work as part of no span: for work that outlives the request that happened to wake it, and would
 * be taken for a part of it for ever.
 */
export function apartFromSpans<Value>(work: () => Value): Value {
  return maker === undefined ? work() : maker.apart(work);
}

/** Headers (`traceparent`) that let another process continue the trace at work; none where there is none. */
export function traceHeaders(): Readonly<Record<string, string>> {
  return maker?.headers() ?? NOTHING;
}

/** The `traceparent` of the span at work: what work that others do later names as `partOf`. */
export function traceparent(): string | undefined {
  return maker?.headers().traceparent;
}

/** What log lines tell of the span at work: `trace_id` and `span_id`. */
export function traceFields(): object {
  return maker?.ids() ?? NOTHING;
}

/** What kind of error it is: its code, or the name of its class. */
function errorType(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const type = typeof code === 'string' ? code : name;
  return typeof type === 'string' && /^[\w.-]{1,64}$/.test(type) ? type : '_OTHER';
}
