import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { debianPromtool } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';

const run = promisify(execFile);
const infra = fileURLToPath(new URL('../../infra/', import.meta.url));

describe('infra/prometheus/alerts.yaml', () => {
  it('contains rules that Prometheus accepts', async () => {
    const { stdout } = await run(await debianPromtool(), [
      'check',
      'rules',
      '--lint-fatal',
      `${infra}prometheus/alerts.yaml`,
    ]);
    expect(stdout).toContain('SUCCESS');
  });

  it('are named by a scrape configuration that Prometheus accepts', async () => {
    const { stdout } = await run(await debianPromtool(), [
      'check',
      'config',
      '--syntax-only',
      `${infra}prometheus/scrape.yaml`,
    ]);
    expect(stdout).toContain('SUCCESS');
  });

  it('raises the expected alerts, and no others', async () => {
    const test = run(await debianPromtool(), ['test', 'rules', 'alerts.test.yaml'], { cwd: `${infra}prometheus` });
    const { stdout } = await test.catch(({ stdout, stderr }) => Promise.reject(new Error(`${stdout}${stderr}`)));
    expect(stdout).toContain('SUCCESS');
  });
});
