import { connect } from 'node:net';

/** One request of a client, byte for byte (one character per byte), and the response that it understood. */
export interface Exchange {
  readonly request: string;
  /** Default: 200. */
  readonly status?: number;
  /** The JSON, without the parts that differ from run to run, and without the status in its header and error. */
  readonly response?: { readonly error?: object };
}

/** The whole response that an exchange expects. */
export function expectedOf({ status = 200, response = {} }: Exchange): Awaited<ReturnType<typeof sendRaw>> {
  const error = response.error && { error: { ...response.error, code: status } };
  return { status, response: { ...response, responseHeader: { status: status === 200 ? 0 : status }, ...error } };
}

/** Members that differ from run to run, or whose text comes from others. */
const VOLATILE = ['QTime', 'token', 'operations', 'lastModified', 'version', 'msg', 'details', 'warnings'];
/** Members that only need to be present. */
const PRESENT = ['score', 'maxScore', 'nextCursorMark'];

/** Sends a request over a separate connection and reads the response. */
export async function sendRaw(port: number, request: string): Promise<{ status: number; response: unknown }> {
  const chunks: Buffer[] = [];
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.from(request, 'latin1'));
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer);
    if (isWhole(Buffer.concat(chunks), request)) break;
  }
  socket.destroy();
  const response = Buffer.concat(chunks);
  const end = response.indexOf('\r\n\r\n');
  const head = response.subarray(0, end).toString();
  const body = response.subarray(end + 4).toString();
  const isJson = /^content-type: application\/json/im.test(head);
  return {
    status: Number(head.slice(9, 12)),
    response: isJson ? JSON.parse(body, steady) : body.replace(/"(QTime|token)">[^<]*/g, '"$1">'),
  };
}

function isWhole(response: Buffer, request: string): boolean {
  const end = response.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /^content-length: (\d+)/im.exec(response.subarray(0, end).toString())?.[1] ?? '0';
  return request.startsWith('HEAD ') || response.length >= end + 4 + Number(length);
}

function steady(key: string, value: unknown): unknown {
  if (VOLATILE.includes(key)) return undefined;
  return PRESENT.includes(key) ? true : value;
}
