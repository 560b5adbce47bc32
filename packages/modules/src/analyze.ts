/** The entry point for code that analyzes images: the README has an example. */
import type { Trained, TrainingConfig } from './model-folder/train.ts';

export { type Analysis, type AnalyzeOptions, analyzeImage } from './analyzer/analyze-image.ts';
export {
  type Analyzer,
  type AnalyzerConfig,
  createAnalyzer,
  defaultPictureMemory,
} from './analyzer/create-analyzer.ts';
export { BACKEND_CHOICES, type Backend, locatePackage } from './network/backend.ts';

export async function trainContentModel(config: TrainingConfig): Promise<Trained> {
  return (await import('./model-folder/train.ts')).trainContentModel(config);
}
