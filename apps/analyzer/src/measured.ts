import type { Analyzer } from '@akin/modules/analyze';
import { inSpan, type Metrics } from '@akin/runtime';

/** The same analyzer, of whose analyses figures and spans tell how long each part took. */
export function measured(analyzer: Analyzer, metrics: Metrics): Analyzer {
  const parts = metrics.histogram(
    'akin_module_seconds',
    'Time of an analysis in its thread, by module; what modules share counts for the first',
    ['module'],
  );
  return {
    ...analyzer,
    analyze(bytes, options) {
      const attributes = { 'akin.analysis.modules': options.modules, 'akin.analysis.bytes': bytes.length };
      return inSpan('analyze', { attributes }, async (span) => {
        const analysis = await analyzer.analyze(bytes, options);
        for (const [module, milliseconds] of Object.entries(analysis.times)) {
          parts.observe({ module }, milliseconds / 1000);
          span.set({ [`akin.module_seconds.${module}`]: milliseconds / 1000 });
        }
        return analysis;
      });
    },
  };
}
