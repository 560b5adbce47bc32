import { describe, expect, it } from '@jest/globals';
import { createMetrics } from './metrics.ts';

describe('metrics', () => {
  it('give counters, gauges read at that moment, histograms and requests as text', async () => {
    const metrics = createMetrics();
    let waiting = 1;
    metrics.gauge('akin_waiting', 'Waiting', () => waiting);
    metrics.counter('akin_failures_total', 'Failures', ['reason']).inc({ reason: 'too-large' });
    metrics.request('select', 200, 40);
    metrics.search('exact', 40);
    let jobs = [{ labels: { queue: 'analyze', state: 'waiting' }, value: 7 }];
    metrics.gauges('akin_jobs', 'Jobs', ['queue', 'state'], async () => jobs);
    expect((await metrics.text()).text).toContain('akin_jobs{queue="analyze",state="waiting"} 7');
    jobs = [];
    waiting = 3;
    const { type, text } = await metrics.text();
    expect(type).toContain('text/plain');
    expect(text).toContain('akin_waiting 3');
    expect(text).toContain('akin_failures_total{reason="too-large"} 1');
    expect(text).toContain('akin_request_seconds_bucket{le="0.05",endpoint="select",status="200"} 1');
    expect(text).toContain('akin_request_seconds_bucket{le="0.025",endpoint="select",status="200"} 0');
    expect(text).toContain('process_resident_memory_bytes');
    expect(text).toContain('akin_search_seconds_count{path="exact"} 1');
    expect(text).not.toContain('akin_jobs{');
  });

  it('are apart from those of another part of the process', async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.counter('akin_things_total', 'Things').inc();
    expect((await other.text()).text).not.toContain('akin_things_total');
  });
});
