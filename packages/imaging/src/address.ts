import ipaddr from 'ipaddr.js';

/**
 * Which addresses a download may connect to, in addition to public ones. Link-local addresses and cloud metadata
 * services are never allowed.
 */
export interface DownloadPolicy {
  /** 127.0.0.0/8 and ::1: this machine. */
  readonly allowLoopback: boolean;
  /** Private networks (RFC 1918, fc00::/7), carrier-grade NAT and benchmarking ranges. */
  readonly allowPrivate: boolean;
  /** Names of hosts that may have private or loopback addresses, such as an internal image server. */
  readonly allowHosts?: readonly string[];
}

export type AddressKind = 'public' | 'loopback' | 'private' | 'link-local' | 'metadata' | 'reserved';

/**
 * Addresses of cloud metadata services outside the link-local range: Alibaba, Oracle, Azure; Amazon and Google over
 * IPv6. Such a service gives the credentials of a machine to every process on it.
 */
const METADATA = ['100.100.100.200', '192.0.0.192', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'].map((address) =>
  ipaddr.parse(address).toNormalizedString(),
);

const IPV4_KINDS: Readonly<Record<string, AddressKind>> = {
  unicast: 'public',
  as112: 'public',
  loopback: 'loopback',
  private: 'private',
  carrierGradeNat: 'private',
  linkLocal: 'link-local',
};

/**
 * Classifies the text of an IPv4 or IPv6 address, as a resolver returns it. An IPv6 address that contains an IPv4
 * address (mapped, NAT64, 6to4) is classified by the IPv4 address. Invalid text is `reserved`.
 */
export function addressKind(text: string): AddressKind {
  const bare = text.split('%')[0] as string;
  if (!ipaddr.isValid(bare)) return 'reserved';
  const address = ipaddr.parse(bare);
  if (METADATA.includes(address.toNormalizedString())) return 'metadata';
  return address instanceof ipaddr.IPv4 ? ipv4Kind(address) : ipv6Kind(address as ipaddr.IPv6);
}

function ipv4Kind(address: ipaddr.IPv4): AddressKind {
  // ipaddr.js treats benchmarking networks (RFC 2544) as reserved; container setups use them as private ones.
  if (address.match(ipaddr.IPv4.parse('198.18.0.0'), 15)) return 'private';
  return IPV4_KINDS[address.range()] ?? 'reserved';
}

function ipv6Kind(address: ipaddr.IPv6): AddressKind {
  const range = address.range();
  const bytes = address.toByteArray();
  if (range === 'loopback') return 'loopback';
  if (range === 'linkLocal') return 'link-local';
  if (range === 'uniqueLocal') return 'private';
  if (range === 'ipv4Mapped') return addressKind(bytes.slice(12).join('.'));
  if (range === '6to4') return addressKind(bytes.slice(2, 6).join('.'));
  if (range === 'rfc6052') {
    // 64:ff9b::/96 is NAT64 to the public internet, 64:ff9b:1::/48 is for translation inside a network.
    return bytes[5] === 1 ? 'private' : addressKind(bytes.slice(12).join('.'));
  }
  // ipaddr.js calls all other addresses unicast; global unicast is 2000::/3.
  return range === 'unicast' && ((bytes[0] as number) & 0xe0) === 0x20 ? 'public' : 'reserved';
}

/** Whether a download from `host`, which resolved to `address`, is allowed. */
export function isAllowed(host: string, address: string, policy: DownloadPolicy): boolean {
  const kind = addressKind(address);
  const trusted = policy.allowHosts?.some((name) => name.toLowerCase() === host.toLowerCase()) ?? false;
  if (kind === 'loopback') return policy.allowLoopback || trusted;
  if (kind === 'private') return policy.allowPrivate || trusted;
  return kind === 'public';
}
