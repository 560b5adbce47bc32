export { EnvironmentError, envInteger, envList, envSwitch, envUrl, readEnvironment } from './environment.ts';
export { createLogger, type Log, type LogDestination, type Logger, type LoggerConfig } from './logger.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { type ShutdownPhase, shutDown } from './shutdown.ts';
export { Stopped, untilSignal } from './signals.ts';
export { sleep } from './sleep.ts';
export { Slots } from './slots.ts';
export {
  apartFromSpans,
  errorType,
  inSpan,
  type OpenSpan,
  openSpan,
  type Span,
  traceFields,
  traceHeaders,
  traceparent,
} from './spans.ts';
export { startTracing, type Tracing } from './start-tracing.ts';
