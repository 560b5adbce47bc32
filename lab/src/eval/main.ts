/** `npm run eval -- <folder…>`: measures the quality of the outputs on your own pictures. See USAGE in options.ts. */

import { checkBackend } from '@akin/modules/internal/network/backend';
import { sampleFolder } from '../learn/picture-files.ts';
import { evaluate } from './evaluate.ts';
import { readEvalOptions, USAGE } from './options.ts';

try {
  const options = await readEvalOptions(process.argv.slice(2));
  if (options === undefined) console.log(USAGE);
  else {
    await checkBackend(options.backend);
    // List the files of all folders before the first measurement, which takes minutes.
    const samples = [];
    for (const { folder, results } of options.folders) {
      samples.push({ folder, results, files: await sampleFolder(folder, options.sample) });
    }
    for (const sample of samples) await evaluate(sample, options);
  }
} catch (error) {
  const { message } = error as Error;
  console.error(`${message}\nnpm run eval -- --help shows how to use it.`);
  process.exitCode = 1;
}
