/**
 * `npm run train -- <folder> [--backend onnx]`: all that hangs on the weights of the network, from pictures: the axes of
 * descriptors, then codebooks and scores, then the stored outputs that tests compare with.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

for (const script of ['axes.js', 'main.js', '../../test/store-outputs.mjs']) {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const { status } = spawnSync(process.execPath, [file, ...process.argv.slice(2)], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
