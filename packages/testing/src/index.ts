export { type BreakableProxy, openProxy } from './breakable-proxy.ts';
export { debianPostgresClients } from './debian.ts';
export { type Drawing, drawImage, randomNumbers } from './images.ts';
export {
  canKillServers,
  type KillableRedis,
  type KillableServer,
  killablePostgres,
  killableRedis,
} from './killable.ts';
export { createServices, type Services } from './services.ts';
export { type TestDatabase, testDatabase } from './test-database.ts';
export { type TestRedis, testRedis } from './test-redis.ts';
export { type ReceivedSpan, receiveTraces, type TraceReceiver } from './traces.ts';
