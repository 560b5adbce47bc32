import { writeFile } from 'node:fs/promises';
import { findServer, SERVER_OPTIONS } from '../bulk/options.ts';
import { bulkProgressLine } from '../bulk/progress-line.ts';
import { UsageError } from '../options.ts';
import { mayReplace } from '../output-file.ts';
import type { CommandModule } from '../program.ts';
import { measure } from '../report/measure.ts';
import { reportPage } from '../report/page.ts';

/** As many documents as one page of a search may have. */
const MAX_SAMPLED = 1_000;

export const reportCommand: CommandModule = {
  command: {
    name: 'report',
    usage: 'report [<collection>]',
    description:
      'Measures how well a collection ranks by content, with a sample of its documents: recall against an exact search, scores, near-duplicates, documents without a descriptor; with labels also mAP and precision at 1. Writes an HTML page, whose pictures come from the running akin, and a JSON file with the numbers.',
    options: [
      ...SERVER_OPTIONS,
      {
        name: 'compare',
        valueName: 'collection',
        description: 'A second collection with the same ids, such as one with another model',
      },
      {
        name: 'labels',
        valueName: 'field',
        description: 'Field with the labels: documents with the same value belong together',
      },
      { name: 'sample', valueName: 'n', description: `Size of the sample, at most ${MAX_SAMPLED}`, default: '200' },
      {
        name: 'output',
        short: 'o',
        valueName: 'file',
        description: 'File for the page. The metrics are written to a file with the same name and the extension .json',
        default: 'akin-report.html',
      },
    ],
  },

  async run(options, signal) {
    if (options.positionals.length > 1) throw new UsageError('Name one collection. Give a second one with --compare.');
    const { client, name } = await findServer(options);
    const output = options.text('output') ?? '';
    if (!output.endsWith('.html'))
      throw new UsageError('--output must end in .html. The metrics are written to the same name with .json.');
    const json = output.replace(/html$/, 'json');
    for (const file of [output, json]) await mayReplace(file);
    const compared = options.text('compare');
    const collections = [options.positionals[0] ?? name, ...(compared === undefined ? [] : [compared])].map((one) =>
      client.collection(one),
    );
    const [first] = collections;
    const rows = options.number('sample', MAX_SAMPLED);
    const sample = await first?.select({ rows, sort: 'random_1 asc', fl: 'id' });
    const ids = (sample?.response.docs ?? []).map(({ id }) => id);
    const total = ids.length * collections.length;
    let documents = 0;
    const line = bulkProgressLine(process.stderr, () => ({
      documents,
      failed: 0,
      share: total > 0 ? documents / total : undefined,
      note: '',
    }));
    const reports = [];
    try {
      for (const collection of collections) {
        const onDocument = () => documents++;
        reports.push(await measure(collection, { ids, labels: options.text('labels'), signal, onDocument }));
      }
    } finally {
      line.finish();
    }
    await writeFile(
      output,
      reportPage(reports, (collection, id) => client.collection(collection).thumbnailAddress(id)),
    );
    const plain = reports.map((one) => ({
      ...one,
      ...(one.labels && { labels: { ...one.labels, byLabel: Object.fromEntries(one.labels.byLabel) } }),
    }));
    await writeFile(json, `${JSON.stringify(plain, undefined, 2)}\n`);
    process.stdout.write(`The report is in ${output}, and its numbers are in ${json}.\n`);
    return 0;
  },
};
