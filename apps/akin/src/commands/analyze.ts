import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { createAnalyzer } from '@akin/modules/analyze';
import { moduleNames, parseModulesApply } from '@akin/modules/manifests';
import { analyzeLines } from '../analyze-lines.ts';
import { UsageError } from '../options.ts';
import type { CommandModule } from '../program.ts';
import { ANALYSIS_OPTIONS, analysisConfig } from './analysis-options.ts';

export const analyzeCommand: CommandModule = {
  command: {
    name: 'analyze',
    usage: 'analyze <file|-> …',
    description:
      'Prints the outputs of pictures as lines of JSON, in order. With - it reads one input per line: a path, or {"data": "<base64>"}. Exit code 2: some pictures failed, and their lines say why.',
    options: [
      {
        name: 'modules',
        valueName: 'names',
        description: `Modules to run, separated by commas: ${moduleNames.join(',')}`,
      },
      ...ANALYSIS_OPTIONS,
    ],
  },

  async run(options, signal) {
    if (options.positionals.length === 0)
      throw new UsageError('Name files, or - to read one input per line from standard input.');
    const modules = parseModulesApply(options.text('modules'));
    const analysis = analysisConfig(options);
    const { threads } = analysis;
    await using analyzer = await createAnalyzer(analysis);
    const inputs =
      options.positionals.length === 1 && options.positionals[0] === '-'
        ? createInterface({ input: process.stdin, signal })
        : options.positionals;
    let failed = false;
    const lines = async function* () {
      for await (const { line, ok } of analyzeLines(inputs, analyzer, { threads, modules, signal })) {
        failed ||= !ok;
        yield `${line}\n`;
      }
    };
    // A slow reader slows the analysis down. A reader that closes ends it.
    await pipeline(lines, process.stdout, { end: false }).catch((error) => {
      if (error.code !== 'EPIPE') throw error;
    });
    return failed ? 2 : 0;
  },
};
