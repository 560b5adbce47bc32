import { type Analyzer, type AnalyzerConfig, createAnalyzer } from '@akin/modules/analyze';
import { models as modelsInUse } from '@akin/modules/vectors';
import type { ContentModels } from './content-models.ts';

/**
 * Analyzes by the content model of the process, and by others that are here where a call names one: each has threads of its
 * own, from the first call on. All share the memory for pictures.
 */
export async function createModelAnalyzers(config: AnalyzerConfig, models: ContentModels): Promise<Analyzer> {
  const analyzer = await createAnalyzer(config);
  const own = modelsInUse().get('content');
  const others = new Map<string, Promise<Analyzer>>();
  const { contentModel: _, ...rest } = config;

  async function open(model: string): Promise<Analyzer> {
    const folder = await models.folderOf(model);
    return createAnalyzer({ ...rest, memoryOf: analyzer, ...(folder === undefined ? {} : { contentModel: folder }) });
  }

  function of(model: string | undefined): Promise<Analyzer> {
    if (model === undefined || model === own) return Promise.resolve(analyzer);
    const known = others.get(model);
    if (known !== undefined) return known;
    const opening = open(model);
    others.set(model, opening);
    // It may be here later.
    opening.catch(() => others.delete(model));
    return opening;
  }

  return {
    ...analyzer,
    analyze: async (bytes, options) => (await of(options.model)).analyze(bytes, options),
    describeWords: async (text, signal, model) => (await of(model)).describeWords(text, signal),
    async [Symbol.asyncDispose]() {
      const opened = await Promise.allSettled(others.values());
      await Promise.all(
        opened.map((one) => (one.status === 'fulfilled' ? one.value[Symbol.asyncDispose]() : undefined)),
      );
      await analyzer[Symbol.asyncDispose]();
    },
  };
}
