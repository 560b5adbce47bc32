import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
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

  it('uses only metrics that akin exports', async () => {
    const among = ['--include=*.ts', '--exclude-dir=node_modules', '--exclude-dir=dist', '--exclude=*.test.ts'];
    const told = await run('grep', ['-rhoE', "'akin_[a-z_]+'", ...among, 'apps', 'packages'], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    });
    const names = new Set(told.stdout.split('\n').map((name) => name.replaceAll("'", '')));
    for (const file of ['prometheus/alerts.yaml', 'grafana/akin.json']) {
      const text = await readFile(`${infra}${file}`, 'utf8');
      const asked = text.match(/\bakin_[a-z_]+/g) ?? [];
      expect(asked.filter((name) => !names.has(name.replace(/_(bucket|count|sum)$/, '')))).toEqual([]);
    }
  });
});
