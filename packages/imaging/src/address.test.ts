import { describe, expect, it } from '@jest/globals';
import { type AddressKind, addressKind, isAllowed } from './address.ts';

const CASES: readonly (readonly [string, AddressKind])[] = [
  ['93.184.216.34', 'public'],
  ['8.8.8.8', 'public'],
  ['2606:2800:220:1:248:1893:25c8:1946', 'public'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['::1', 'loopback'],
  ['10.1.2.3', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['172.32.0.1', 'public'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['198.18.0.1', 'private'],
  ['fd12:3456::1', 'private'],
  ['fc00::1', 'private'],
  ['169.254.169.254', 'link-local'],
  ['169.254.170.2', 'link-local'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['100.100.100.200', 'metadata'],
  ['192.0.0.192', 'metadata'],
  ['168.63.129.16', 'metadata'],
  ['fd00:ec2::254', 'metadata'],
  ['fd00:0ec2:0:0:0:0:0:254', 'metadata'],
  ['fd00:ec2::254%eth0', 'metadata'],
  ['fd20:ce::254', 'metadata'],
  ['0.0.0.0', 'reserved'],
  ['0.1.2.3', 'reserved'],
  ['::', 'reserved'],
  ['224.0.0.1', 'reserved'],
  ['239.255.255.250', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['240.0.0.1', 'reserved'],
  ['192.0.2.1', 'reserved'],
  ['ff02::1', 'reserved'],
  ['2001:db8::1', 'reserved'],
  ['2001::1', 'reserved'],
  ['100::1', 'reserved'],
  ['fec0::1', 'reserved'],
  ['4000::1', 'reserved'],
  // IPv4 inside IPv6: mapped, deprecated compatible, NAT64, 6to4.
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:a9fe:a9fe', 'link-local'],
  ['::ffff:100.100.100.200', 'metadata'],
  ['::ffff:8.8.8.8', 'public'],
  ['::7f00:1', 'reserved'],
  ['64:ff9b::10.0.0.1', 'private'],
  ['64:ff9b::169.254.169.254', 'link-local'],
  ['64:ff9b::8.8.8.8', 'public'],
  ['64:ff9b:1::8.8.8.8', 'private'],
  ['2002:7f00:1::', 'loopback'],
  ['2002:c0a8:101::1', 'private'],
  ['2002:808:808::1', 'public'],
  ['', 'reserved'],
  ['localhost', 'reserved'],
  ['999.1.1.1', 'reserved'],
];

describe('addressKind', () => {
  it.each(CASES)('calls %j %s', (address, kind) => {
    expect(addressKind(address)).toBe(kind);
  });
});

describe('isAllowed', () => {
  const nothing = { allowLoopback: false, allowPrivate: false };

  it('allows loopback and private networks each by a separate option, link-local and metadata never', () => {
    const everything = { allowLoopback: true, allowPrivate: true, allowHosts: ['h'] };
    for (const [address, kind] of CASES) {
      expect(isAllowed('h', address, nothing)).toBe(kind === 'public');
      expect(isAllowed('h', address, { ...nothing, allowLoopback: true })).toBe(
        kind === 'public' || kind === 'loopback',
      );
      expect(isAllowed('h', address, { ...nothing, allowPrivate: true })).toBe(kind === 'public' || kind === 'private');
      expect(isAllowed('h', address, everything)).toBe(['public', 'private', 'loopback'].includes(kind));
    }
  });

  it('trusts named hosts alone', () => {
    const policy = { ...nothing, allowHosts: ['Images.internal'] };
    expect(isAllowed('images.INTERNAL', '10.0.0.7', policy)).toBe(true);
    expect(isAllowed('other.internal', '10.0.0.7', policy)).toBe(false);
    expect(isAllowed('images.internal', '169.254.169.254', policy)).toBe(false);
  });
});
