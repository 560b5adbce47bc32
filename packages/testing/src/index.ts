export { type BreakableProxy, openProxy } from './breakable-proxy.ts';
export { type Drawing, drawImage, randomNumbers } from './images.ts';
export { createServices, type Services } from './services.ts';
export { type TestDatabase, testDatabase } from './test-database.ts';
export { type TestRedis, testRedis } from './test-redis.ts';
