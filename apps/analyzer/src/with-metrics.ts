import type { Analyzer } from '@akin/modules/analyze';
import { inSpan, type Metrics } from '@akin/runtime';

/** Wraps an analyzer: metrics and spans record how long each part of an analysis took. */
export function withMetrics(analyzer: Analyzer, metrics: Metrics): Analyzer {
  const parts = metrics.histogram(
    'akin_module_seconds',
    'Time of each module of an analysis in its thread. Work that several modules share counts for the first of them',
    ['module'],
  );
  metrics.gauges(
    'akin_picture_bytes',
    'Memory that pictures take: large files held, and decoding',
    ['for'],
    async () => [
      { labels: { for: 'files' }, value: analyzer.files.taken },
      { labels: { for: 'decoding' }, value: analyzer.decoding.taken },
    ],
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
