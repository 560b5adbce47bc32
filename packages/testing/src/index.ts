export { type Balancer, openBalancer } from './balancer.ts';
export { type BreakableProxy, openProxy } from './breakable-proxy.ts';
export { inFull, pauseClient, scaledByChaos } from './chaos.ts';
export { CommandsInTurn, type EndedCommand } from './commands-in-turn.ts';
export { debianPostgresClients, debianPromtool } from './debian.ts';
export { growth, LINEAR, processorTime } from './growth.ts';
export { drawImage, randomNumbers } from './images.ts';
export {
  canKillServers,
  type KillableRedis,
  type KillableServer,
  killablePostgres,
  killableRedis,
} from './killable.ts';
export { drawLargeImage } from './large-images.ts';
export { onPostgres } from './on-postgres.ts';
export { openPgBouncer } from './pgbouncer.ts';
export { freePort, type Server } from './server.ts';
export { createServices } from './services.ts';
export { SHORT_LIVED } from './short-lived.ts';
export { type SmallDisk, smallDisk } from './small-disk.ts';
export { type ReplicatedPostgres, replicatedPostgres } from './standby.ts';
export { copyTemplate } from './template.ts';
export { type DatabaseTemplate, type TestDatabase, testDatabase } from './test-database.ts';
export { type TestRedis, testRedis } from './test-redis.ts';
export { TINY_TOWERS } from './tiny-towers.ts';
export { type ReceivedSpan, receiveTraces, type TraceReceiver } from './traces.ts';
