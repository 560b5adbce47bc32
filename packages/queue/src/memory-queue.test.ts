import { queueContract } from '../test/queue-contract.ts';
import { createMemoryQueue } from './index.ts';

queueContract('in one process', async () => createMemoryQueue());
