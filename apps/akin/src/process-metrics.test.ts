import { tmpdir } from 'node:os';
import { createMetrics } from '@akin/runtime/observability';
import { describe, expect, it } from '@jest/globals';
import { createProcessMetrics, reportDisk, reportQueueUp } from './process-metrics.ts';
import { akinVersion } from './version.ts';

const COUNTS = { waiting: 0, delayed: 0, active: 0, failed: 0 };

describe('the metrics of a process', () => {
  it('contain its version', async () => {
    const { text } = await createProcessMetrics('akin gateway').text();
    expect(text).toContain(
      `akin_build_info{process="akin gateway",version="${akinVersion()}",node="${process.versions.node}"} 1`,
    );
  });

  it('contain the free disk space, if there is a disk', async () => {
    const figures = async (folder: string) => {
      const metrics = createMetrics();
      reportDisk(metrics, folder);
      return (await metrics.text()).text;
    };
    expect(await figures(tmpdir())).toMatch(/^akin_disk_free_bytes [1-9]\S*$/m);
    expect(await figures('/nowhere/at/all')).toMatch(/^akin_disk_free_bytes nan$/im);
  });

  it.each([
    ['answers', () => Promise.resolve(COUNTS), 1],
    ['refuses', () => Promise.reject(new Error('connect ECONNREFUSED')), 0],
    ['hangs', () => new Promise<never>(() => {}), 0],
  ])('report a queue whose server %s', async (_, counts, up) => {
    const metrics = createMetrics();
    reportQueueUp(metrics, { counts }, 'Redis');
    expect((await metrics.text()).text).toContain(`akin_queue_up{server="Redis"} ${up}`);
  });
});
