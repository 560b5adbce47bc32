import { createInterface } from 'node:readline';
import { createAnalyzer } from '@akin/modules/analyze';
import { parseModulesApply } from '@akin/modules/manifests';
import { analyzeLines } from '../analyze-lines.ts';
import type { Program } from '../main.ts';
import { UsageError } from '../options.ts';
import { DEFAULT_THREADS } from '../serve.ts';

export const analyzeCommand: Program = {
  command: {
    name: 'analyze',
    usage: 'analyze <file|-> …',
    about:
      'Prints the outputs of pictures as lines of JSON, in order. With - it reads one input a line: a path, or {"data": "<base64>"}. Exit code 2 when some could not be analyzed; their lines say why.',
    options: [
      { name: 'modules', value: 'names', about: 'Modules to run, by comma: color,content,copyspace,duplicate' },
      { name: 'threads', value: 'n', about: 'Pictures analyzed at the same time', default: String(DEFAULT_THREADS) },
    ],
  },

  async run(options, signal) {
    if (options.words.length === 0) throw new UsageError('Name files, or - for one input a line on standard input.');
    const modules = parseModulesApply(options.text('modules'));
    const threads = Math.max(1, options.number('threads'));
    await using analyzer = await createAnalyzer({ threads });
    const inputs =
      options.words.length === 1 && options.words[0] === '-'
        ? createInterface({ input: process.stdin })
        : options.words;
    let failed = false;
    for await (const { line, ok } of analyzeLines(inputs, analyzer, { threads, modules, signal })) {
      failed ||= !ok;
      // A reader that is slower than the analysis holds it back, so that lines do not pile up.
      if (!process.stdout.write(`${line}\n`)) await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
    return failed ? 2 : 0;
  },
};
