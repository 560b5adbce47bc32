import type { AccessConfig } from '@akin/gateway';
import { firstKeyCommand } from './first-key-command.ts';
import type { Option, Parsed } from './options.ts';

const OPEN_METRICS: Option = {
  name: 'open-metrics',
  about: 'Tell /metrics to whoever asks, without a key: where the network lets in only those who may read it',
};

const FLEET_KEY: Option = {
  name: 'fleet-key',
  value: 'secret',
  about:
    'The same for all processes of a fleet: analyzers take pictures from whoever has it, and all tell /metrics. Better by its environment variable',
};

/** Options of what answers searches and changes. */
export const ACCESS_OPTIONS: readonly Option[] = [
  { name: 'require-keys', about: 'Ask for keys on this machine too; beyond it akin always does' },
  { name: 'key-rate', value: 'n', about: 'Requests a second of each key without a rate of its own; else no limit' },
  {
    name: 'address-rate',
    value: 'n',
    about: 'Requests a second of each address: with keys of web pages (20 unless given), and without a key (no limit)',
  },
  {
    name: 'proxies',
    value: 'n',
    about: 'Proxies in front, each of which adds to X-Forwarded-For whom it serves',
    default: '0',
  },
  OPEN_METRICS,
];

/** Options of each process of a fleet. */
export const FLEET_OPTIONS: readonly Option[] = [FLEET_KEY];
/** Options of processes of a fleet that have no keys in a store. */
export const DOOR_OPTIONS: readonly Option[] = [FLEET_KEY, OPEN_METRICS];

export function accessConfig(options: Parsed): AccessConfig {
  return {
    requireKeys: options.on('require-keys'),
    openMetrics: options.on('open-metrics'),
    proxies: options.number('proxies', 10),
    firstKeyCommand: firstKeyCommand(options),
    ...(options.text('key-rate') ? { keyRate: Math.max(1, options.number('key-rate', 1_000_000)) } : {}),
    ...(options.text('address-rate') ? { addressRate: Math.max(1, options.number('address-rate', 1_000_000)) } : {}),
  };
}

export function doorAccess(options: Parsed): AccessConfig {
  const ownKey = options.text('fleet-key');
  return { openMetrics: options.on('open-metrics'), ...(ownKey ? { ownKey } : {}) };
}
