// A thread that runs the network on one backend, as built: each backend of TensorFlow.js wants a thread of its own, and
// native packages the arrays of Node rather than those of a test.
import { parentPort, workerData } from 'node:worker_threads';
import { MODEL_FOLDER, readModel } from '../dist/network/model.js';
import { openNetwork } from '../dist/network/network.js';

let network;
parentPort.on('message', async (pictures) => {
  try {
    network ??= openNetwork(await readModel(MODEL_FOLDER), workerData);
    parentPort.postMessage({ features: await (await network).run(pictures) });
  } catch (error) {
    parentPort.postMessage({ error: error.message });
  }
});
