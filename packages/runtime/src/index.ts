export { type CauseFields, causeFields } from './causes.ts';
export { isRunning } from './is-running.ts';
export { createLogger, type Log, type LogDestination, type Logger, type LoggerConfig } from './logger.ts';
export { memoryLimit } from './memory-limit.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export {
  PoolerError,
  type PostgresConnection,
  requireSessionPooling,
  setSession,
} from './postgres-session.ts';
export { connectionName, type ProcessName, parseConnectionName } from './process-name.ts';
export { type ShutdownPhase, shutDown } from './shutdown.ts';
export { Stopped, untilSignal } from './signals.ts';
export { sleep } from './sleep.ts';
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
export { WeightedSemaphore } from './weighted-semaphore.ts';
export { within } from './within.ts';
