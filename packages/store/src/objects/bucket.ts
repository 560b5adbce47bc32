import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ServiceException,
} from '@aws-sdk/client-s3';
import { type ListedObject, type ObjectStore, objectStoreUnavailable } from './object-store.ts';

const ATTEMPTS = 3;

/** In milliseconds. */
interface BucketTimes {
  /** Time limits of one attempt: for the connection, and for the start of the response. */
  readonly connect: number;
  readonly response: number;
  /** Time limit of the whole call, with all attempts and the body. */
  readonly call: number;
}

const TIMES: BucketTimes = { connect: 2_000, response: 10_000, call: 20_000 };
const MAX_CONNECTIONS = 64;

/**
 * Objects in a bucket. Region, credentials and the URL of the server come from the usual sources of the AWS SDK
 * (`AWS_REGION`, `AWS_ENDPOINT_URL_S3`, `AWS_ACCESS_KEY_ID`, files, roles of machines and pods).
 */
export function openBucket(bucket: string, prefix: string, times = TIMES): ObjectStore {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env;
  const agent = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
  const client = new S3Client({
    maxAttempts: ATTEMPTS,
    // Servers other than Amazon's rarely have a host name for each bucket, and not all support the newer checksums.
    forcePathStyle: Boolean(AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: times.connect,
      requestTimeout: times.response,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
  const base = prefix === '' ? '' : `${prefix}/`;
  const named = (key: string) => ({ Bucket: bucket, Key: base + key });

  async function get(key: string, range: string | undefined): Promise<Buffer | undefined> {
    for (let attempt = 1; ; attempt++) {
      const abortSignal = AbortSignal.timeout(times.call);
      try {
        const { Body } = await client.send(new GetObjectCommand({ ...named(key), Range: range }), { abortSignal });
        return await buffer(addAbortSignal(abortSignal, Body as Readable));
      } catch (error) {
        const { name, $metadata } = error as Partial<S3ServiceException>;
        if (name === 'NoSuchKey' || name === 'InvalidRange') return undefined;
        // The SDK retries a request, but not a truncated body.
        if ($metadata !== undefined || abortSignal.aborted || attempt === ATTEMPTS) throw objectStoreUnavailable(error);
      }
    }
  }

  return {
    location: `s3://${bucket}${prefix && `/${prefix}`}`,
    async put(key, bytes) {
      const object = new PutObjectCommand({
        ...named(key),
        Body: bytes,
        ContentLength: bytes.length,
        ContentType: 'application/octet-stream',
      });
      await reached(client.send(object, { abortSignal: AbortSignal.timeout(times.call) }));
    },
    async get(key, range) {
      if (range === undefined) return get(key, undefined);
      const bytes = await get(key, `bytes=${range.from}-${range.to - 1}`);
      return bytes?.length === range.to - range.from ? bytes : undefined;
    },
    async delete(key) {
      const one = new DeleteObjectCommand(named(key));
      await reached(client.send(one, { abortSignal: AbortSignal.timeout(times.call) }));
    },
    async *list(folder): AsyncGenerator<ListedObject[]> {
      let next: string | undefined;
      do {
        const page = await reached(
          client.send(
            new ListObjectsV2Command({
              Bucket: bucket,
              Prefix: base + folder,
              ...(next ? { ContinuationToken: next } : {}),
            }),
            { abortSignal: AbortSignal.timeout(times.call) },
          ),
        );
        const objects = (page.Contents ?? []).flatMap(({ Key, LastModified }) =>
          Key?.startsWith(base) && LastModified ? [{ key: Key.slice(base.length), modified: LastModified }] : [],
        );
        if (objects.length > 0) yield objects;
        next = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (next !== undefined);
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
    },
  };
}

async function reached<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw objectStoreUnavailable(error);
  }
}
