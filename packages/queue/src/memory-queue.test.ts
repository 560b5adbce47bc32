import { queueContract } from '../test/queue-contract.ts';
import { createMemoryQueue } from './memory-queue.ts';

queueContract('in one process', async () => createMemoryQueue());
