import { readdir, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Client, CollectionSummary, FleetProcess } from '@akin/client';
import { findAkin, SERVER_OPTIONS } from '../bulk/options.ts';
import { databaseFolder, dataFolder } from '../data-option.ts';
import type { ParsedOptions } from '../options.ts';
import type { CommandModule } from '../program.ts';
import { runningServer } from '../server-file.ts';
import { textTable } from '../text-table.ts';

const METRICS_MILLISECONDS = 10_000;

export const statusCommand: CommandModule = {
  command: {
    name: 'status',
    usage: 'status [--json]',
    takesPositionals: false,
    description:
      'Shows the state of a running akin: its address, version and memory, the processes of its fleet, its collections, its queue and its disk.',
    options: [
      ...SERVER_OPTIONS.filter(({ name }) => name !== 'collection'),
      { name: 'json', description: 'Print JSON' },
    ],
  },

  async run(options) {
    const { client, url } = await findAkin(options);
    const [{ collections }, process_, fleet, data] = await Promise.all([
      client.collections(),
      processAt(url, options.text('key')),
      fleetOf(client),
      dataOf(options, url),
    ]);
    const status = { url, ...process_, ...fleet, ...data, collections };
    process.stdout.write(options.isOn('json') ? `${JSON.stringify(status, null, 2)}\n` : summaryText(status));
    return 0;
  },
};

/** What one process reports about itself in `/metrics`. Empty if the key may not read them. */
interface ProcessStatus {
  readonly process?: string;
  readonly version?: string;
  readonly node?: string;
  readonly startedAt?: string;
  readonly memoryBytes?: number;
  readonly queues?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The analyzers that a gateway uses for query pictures, and whether it leaves them out at present. */
  readonly analyzers?: readonly { readonly address: string; readonly leftOut: boolean }[];
  /** The standbys that a gateway reads searches from. Without lag if one does not answer. */
  readonly standbys?: readonly { readonly name: string; readonly leftOut: boolean; readonly lagBytes?: number }[];
}

/** The processes of a fleet. Empty if akin is one process, or the key does not have the scope admin. */
interface FleetStatus {
  readonly processes?: readonly FleetProcess[];
}

async function fleetOf(client: Client): Promise<FleetStatus> {
  const { processes } = await client.processes().catch(() => ({ processes: [] }));
  return processes.length > 0 ? { processes } : {};
}

interface DataStatus {
  readonly data?: { readonly folder: string; readonly bytes: number; readonly freeBytes: number };
}

async function processAt(url: string, key: string | undefined): Promise<ProcessStatus> {
  const response = await fetch(`${url}/metrics`, {
    headers: key ? { authorization: `Bearer ${key}` } : {},
    signal: AbortSignal.timeout(METRICS_MILLISECONDS),
  });
  const metrics = readMetrics(await response.text());
  if (!response.ok) return {};
  const build = metrics.find(({ name }) => name === 'akin_build_info')?.labels ?? {};
  const number = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  const queues: Record<string, Record<string, number>> = {};
  for (const { name, labels, value } of metrics) {
    const { queue, state } = labels;
    if (name === 'akin_queue_jobs' && queue && state) queues[queue] = { ...queues[queue], [state]: value };
  }
  const analyzers = metrics.flatMap(({ name, labels, value }) =>
    name === 'akin_analyzer_circuit_open' ? [{ address: labels.analyzer ?? '', leftOut: value > 0 }] : [],
  );
  const standbys = metrics.flatMap(({ name, labels: { standby = '' }, value }) => {
    if (name !== 'akin_standby_up') return [];
    const lag = metrics.find((one) => one.name === 'akin_standby_lag_bytes' && one.labels.standby === standby)?.value;
    return [{ name: standby, leftOut: value === 0, ...(Number.isFinite(lag) ? { lagBytes: lag as number } : {}) }];
  });
  return {
    ...build,
    startedAt: new Date(number('process_start_time_seconds') * 1000).toISOString(),
    memoryBytes: number('process_resident_memory_bytes'),
    queues,
    ...(analyzers.length > 0 ? { analyzers } : {}),
    ...(standbys.length > 0 ? { standbys } : {}),
  };
}

interface Metric {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function readMetrics(text: string): Metric[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = line.match(/^(\w+)(?:\{(.*)\})? (\S+)$/) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

async function dataOf(options: ParsedOptions, url: string): Promise<DataStatus> {
  const folder = dataFolder(options);
  if ((await runningServer(folder))?.url !== url) return {};
  const entries = await readdir(databaseFolder(options), { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries.filter((one) => one.isFile())) {
    // The database may remove files at the same time.
    bytes += (await stat(path.join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  }
  const { bavail, bsize } = await statfs(folder);
  return { data: { folder, bytes, freeBytes: bavail * bsize } };
}

function summaryText(
  status: { url: string; collections: readonly CollectionSummary[] } & ProcessStatus & FleetStatus & DataStatus,
): string {
  const { url, version, node, startedAt, memoryBytes, queues, data, collections } = status;
  const lines = [`akin${version ? ` ${version}` : ''} answers at ${url}/`];
  if (version === undefined) lines.push('process: needs a key with the scope admin in AKIN_KEY');
  else {
    lines.push(
      `process: ${status.process}, Node ${node}, since ${startedAt}, ${megabytes(memoryBytes ?? 0)} of memory`,
    );
    const jobs = Object.entries(queues ?? {}).flatMap(([queue, states]) =>
      Object.entries(states).flatMap(([state, count]) => (count > 0 ? [`${count} ${state} in ${queue}`] : [])),
    );
    lines.push(`queue: ${jobs.join(', ') || 'empty'}`);
  }
  for (const { role, version: of, host, pid, address, connectedAt } of status.processes ?? []) {
    lines.push(
      `fleet: ${role} ${of} on ${host}${address ? ` (${address})` : ''}, pid ${pid}, connected since ${connectedAt}`,
    );
  }
  for (const { address, leftOut } of status.analyzers ?? []) {
    lines.push(`analyzer: ${address}, ${leftOut ? 'left out, because it hangs or fails' : 'in use'}`);
  }
  for (const { name, leftOut, lagBytes } of status.standbys ?? []) {
    const lag = lagBytes === undefined ? 'the log of the gateway says why' : `${megabytes(lagBytes)} behind`;
    lines.push(`standby: ${name}, ${leftOut ? 'left out' : 'read'}, ${lag}`);
  }
  if (data) lines.push(`data: ${data.folder}, ${megabytes(data.bytes)}, ${megabytes(data.freeBytes)} free`);
  return `${lines.join('\n')}\n\n${table(collections)}`;
}

function table(collections: readonly CollectionSummary[]): string {
  const rows = collections.map(({ name, documents, pending, failed, committedAt, model }) =>
    [name, documents, pending, failed, committedAt ?? '-', model?.name ?? '-'].map(String),
  );
  return textTable([['collection', 'documents', 'pending', 'failed', 'last commit', 'model'], ...rows]);
}

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;
