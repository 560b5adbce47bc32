// A process that runs networks on one backend, from the built files. Each backend of TensorFlow.js needs a separate
// process or thread, and native packages can be loaded only once in a process.
import { readModel } from '../dist/network/model.js';
import { openNetwork } from '../dist/network/network.js';

const [backend] = process.argv.slice(2);
const networks = new Map();
process.on('message', async ({ folder, pictures }) => {
  try {
    if (!networks.has(folder)) networks.set(folder, await openNetwork(await readModel(new URL(folder)), backend));
    process.send({ features: await networks.get(folder).run(pictures) });
  } catch (error) {
    process.send({ error: error.message });
  }
});
