/**
 * The entry point for code that analyzes images: the analyzer, and scripts. From a script, with all cores:
 *
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { createAnalyzer } from '@akin/modules/analyze';
 * import { moduleNames } from '@akin/modules/manifests';
 *
 * await using analyzer = await createAnalyzer({ threads: 2 });
 * const { outputs } = await analyzer.analyze(await readFile('shoe.jpg'), { modules: moduleNames });
 * ```
 *
 * or, one after the other in its own thread: `const { outputs } = await analyzeImage(bytes)`.
 */
import type { Trained, TrainingConfig } from './model-folder/train.ts';

export { type Analysis, type AnalyzeOptions, analyzeImage } from './analyzer/analyze-image.ts';
export {
  type Analyzer,
  type AnalyzerConfig,
  createAnalyzer,
  defaultPictureMemory,
} from './analyzer/create-analyzer.ts';
export type { TextAnalysis } from './analyzer/text-encoder-worker.ts';
export { BACKEND_CHOICES, type Backend, locatePackage } from './network/backend.ts';

/** See model-folder/train.ts, which is loaded only when this function is called. */
export async function trainContentModel(config: TrainingConfig): Promise<Trained> {
  return (await import('./model-folder/train.ts')).trainContentModel(config);
}
