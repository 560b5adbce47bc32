import type { Context, DiagLogger, Link, SpanContext } from '@opentelemetry/api';
import type { Log } from './logger.ts';
import { type Attributes, type SpanOptions, setTracer, type Tracer } from './spans.ts';
import { withTimeout } from './with-timeout.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Tracing {
  /**
   * Turns tracing off and sends the remaining spans, for a limited time.
   * @returns false if that was too short: requests in progress keep the process alive for some seconds
   */
  end(): Promise<boolean>;
}

export interface TracingConfig {
  /** The name of this process, such as `akin gateway`, unless `OTEL_SERVICE_NAME` is set. */
  readonly service: string;
  readonly version: string;
  /** The maximum time in which the end sends the remaining spans. Default: two seconds. */
  readonly lastSendingMilliseconds?: number;
}

const LAST_SENDING_MILLISECONDS = 2_000;
/** Minimum time between two logged errors of the receiver. */
const WARNING_MILLISECONDS = 60_000;
/** Maximum length of an attribute, unless `OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT` is set. */
const LONGEST_VALUE = 200;
/** A longer text is not a traceparent. */
const LONGEST_TRACEPARENT = 200;

/**
 * Turns traces on if the standard variables ask for them: `OTEL_TRACES_EXPORTER=otlp`, or a URL in
 * `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`. Only then the SDK is loaded, which reads the
 * other variables. Spans are sent in the background; while the receiver does not answer, they are dropped.
 *
 * @returns undefined if nothing asks for traces, or for something that is not supported or not installed, which is logged
 */
export async function startTracing(
  { service, version, lastSendingMilliseconds = LAST_SENDING_MILLISECONDS }: TracingConfig,
  env: Environment,
  log: Pick<Log, 'warn'>,
): Promise<Tracing | undefined> {
  if (!isTracingRequested(env)) return undefined;
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf';
  if (protocol !== 'http/protobuf' && protocol !== 'http/json') {
    log.warn({ protocol }, 'no traces: OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json');
    return undefined;
  }
  const loaded = await load(protocol).catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    log.warn({ reason: error.message }, 'no traces: packages of OpenTelemetry are missing (docs/monitoring.md)');
  });
  if (loaded === undefined) return undefined;
  const [api, { AsyncLocalStorageContextManager }, core, resources, sdk, { OTLPTraceExporter }] = loaded;
  const warn = rateLimitedWarning(log);
  const warnOfError = ({ message, code }: Error & { code?: string }) => warn(message || code || 'unknown');
  const diag: DiagLogger = { error: warn, warn, info() {}, debug() {}, verbose() {} };
  api.diag.setLogger(diag, { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
  core.setGlobalErrorHandler((error) => warnOfError(error as Error));
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

  const own = resources.resourceFromAttributes({
    'service.name': service.replaceAll(' ', '-'),
    'service.version': version,
    'process.pid': process.pid,
  });
  const asked = resources.detectResources({ detectors: [resources.envDetector, resources.serviceInstanceIdDetector] });
  const provider = new sdk.BasicTracerProvider({
    resource: resources.defaultResource().merge(own).merge(asked),
    ...(env.OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT ? {} : { generalLimits: { attributeValueLengthLimit: LONGEST_VALUE } }),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const otel = provider.getTracer('akin', version);
  const propagator = new core.W3CTraceContextPropagator();

  const contextOf = ({ parent, tracestate }: SpanOptions): Context => {
    if (parent === undefined) return api.context.active();
    if (parent === null || parent.length > LONGEST_TRACEPARENT) return api.ROOT_CONTEXT;
    return propagator.extract(
      api.ROOT_CONTEXT,
      { traceparent: parent, ...(tracestate === undefined ? {} : { tracestate }) },
      api.defaultTextMapGetter,
    );
  };
  const linksTo = (traceparents: readonly string[]): Link[] =>
    traceparents.flatMap((traceparent) => {
      const context: SpanContext | undefined = api.trace.getSpanContext(contextOf({ parent: traceparent }));
      return context === undefined ? [] : [{ context }];
    });
  const tracer: Tracer = {
    open(name, options) {
      const parent = contextOf(options);
      const { kind = 'internal', attributes = {}, links = [] } = options;
      const span = otel.startSpan(
        name,
        {
          kind: api.SpanKind[kind.toUpperCase() as Uppercase<typeof kind>],
          attributes: defined(attributes),
          links: linksTo(links),
        },
        parent,
      );
      const within = api.trace.setSpan(parent, span);
      return {
        set: (more) => void span.setAttributes(defined(more)),
        link: (traceparent) => void span.addLinks(linksTo([traceparent])),
        rename: (other) => void span.updateName(other),
        run: (work) => api.context.with(within, work),
        fail: (type) => void span.setStatus({ code: api.SpanStatusCode.ERROR }).setAttribute('error.type', type),
        end: () => span.end(),
      };
    },
    detached: (work) => api.context.with(api.ROOT_CONTEXT, work),
    headers() {
      const headers: Record<string, string> = {};
      propagator.inject(api.context.active(), headers, api.defaultTextMapSetter);
      return headers;
    },
    ids() {
      const context = api.trace.getSpanContext(api.context.active());
      return context && { trace_id: context.traceId, span_id: context.spanId };
    },
  };
  setTracer(tracer);
  return {
    async end() {
      setTracer(undefined);
      // Spans that the receiver refuses are dropped.
      const sent = provider.shutdown().catch(warnOfError);
      const inTime = await withTimeout(lastSendingMilliseconds, sent).then(
        () => true,
        () => false,
      );
      api.context.disable();
      api.diag.disable();
      return inTime;
    },
  };
}

function load(protocol: 'http/protobuf' | 'http/json') {
  return Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/core'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
    protocol === 'http/json'
      ? import('@opentelemetry/exporter-trace-otlp-http')
      : import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
}

function isTracingRequested(env: Environment): boolean {
  if (/^true$/i.test(env.OTEL_SDK_DISABLED ?? '')) return false;
  const exporters = env.OTEL_TRACES_EXPORTER;
  if (exporters) return exporters.split(',').some((name) => name.trim() === 'otlp');
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
}

function rateLimitedWarning(log: Pick<Log, 'warn'>): (reason: string) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (reason) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + WARNING_MILLISECONDS;
    log.warn({ reason: String(reason).slice(0, 300) }, 'traces cannot be sent');
  };
}

function defined(attributes: Attributes): Record<string, string | number | boolean | string[]> {
  const some: Record<string, string | number | boolean | string[]> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) some[name] = value as string | number | boolean | string[];
  }
  return some;
}
