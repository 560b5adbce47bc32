import path from 'node:path';
import { AkinError } from '@akin/domain';
import { openFolder } from './folder.ts';
import type { ObjectStore } from './object-store.ts';

/**
 * Opens an object store.
 *
 * @param location `s3://bucket/prefix`, or a folder, which is created if it is missing
 * @throws AkinError bad-request for anything else
 */
export async function openObjectStore(location: string): Promise<ObjectStore> {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(location) ?? [];
  if (scheme === undefined) return openFolder(path.resolve(location));
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^?#]*))?$/.exec(location) ?? [];
  if (bucket === undefined) {
    throw new AkinError('bad-request', 'The location of objects is s3://bucket, s3://bucket/prefix or a folder.');
  }
  // The library is loaded only if it is needed.
  const { openBucket } = await import('./bucket.ts');
  return openBucket(bucket, prefix.replace(/^\/+|\/+$/g, ''));
}
