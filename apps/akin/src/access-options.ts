import type { AccessConfig } from '@akin/gateway';
import { firstKeyCommand } from './first-key-command.ts';
import type { Option, ParsedOptions } from './options.ts';

const OPEN_METRICS: Option = {
  name: 'open-metrics',
  description: 'Answer /metrics without a key. Only for a private network',
};

const FLEET_KEY: Option = {
  name: 'fleet-key',
  valueName: 'secret',
  description:
    'The secret that all processes of a fleet share. Analyzers and /metrics require it. The environment variable is safer',
};

export const ACCESS_OPTIONS: readonly Option[] = [
  {
    name: 'require-keys',
    description: 'Require a key from clients on this machine, too. Clients on other machines always need one',
  },
  {
    name: 'key-rate',
    valueName: 'n',
    description: 'Requests per second for each key without its own rate. Default: no limit',
  },
  {
    name: 'address-rate',
    valueName: 'n',
    description: 'Requests per second from each address. Default: 20 with keys of web pages, no limit without a key',
  },
  {
    name: 'proxies',
    valueName: 'n',
    description: 'Number of proxies in front of akin that add to X-Forwarded-For',
    default: '0',
  },
  OPEN_METRICS,
];

export const FLEET_OPTIONS: readonly Option[] = [FLEET_KEY];
/** Options of fleet processes that have no store for keys. */
export const WORKER_ACCESS_OPTIONS: readonly Option[] = [FLEET_KEY, OPEN_METRICS];

export function accessConfig(options: ParsedOptions): AccessConfig {
  return {
    requireKeys: options.isOn('require-keys'),
    openMetrics: options.isOn('open-metrics'),
    proxies: options.number('proxies', 10),
    firstKeyCommand: firstKeyCommand(options),
    ...(options.text('key-rate') ? { keyRate: Math.max(1, options.number('key-rate', 1_000_000)) } : {}),
    ...(options.text('address-rate') ? { addressRate: Math.max(1, options.number('address-rate', 1_000_000)) } : {}),
  };
}

export function workerAccess(options: ParsedOptions): AccessConfig {
  const fleetKey = options.text('fleet-key');
  return { openMetrics: options.isOn('open-metrics'), ...(fleetKey ? { fleetKey } : {}) };
}
