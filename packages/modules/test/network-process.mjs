// A process that runs networks on one backend, as built: each backend of TensorFlow.js wants a process or thread of its
// own, and native packages can be loaded once in a process.
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
