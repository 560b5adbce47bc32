import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a receiver gets it. */
export interface ReceivedSpan {
  /** `service.name` of the process. */
  readonly service: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** Trace ids of the linked spans. */
  readonly links: readonly string[];
  /** 2 means that it failed. */
  readonly status: number;
}

export interface TraceReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** The unparsed bodies of all requests. */
  readonly bodies: readonly Buffer[];
  /** The headers of the last request. */
  headers(): NodeJS.Dict<string | string[]>;
  close(): void;
}

/** Receives traces over HTTP (OTLP). Bodies in JSON are parsed. */
export async function receiveTraces(): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  let headers = {};
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    headers = request.headers;
    if (request.url !== '/v1/traces') {
      response.writeHead(404).end();
      return;
    }
    bodies.push(body);
    if (request.headers['content-type'] === 'application/json') spans.push(...read(JSON.parse(String(body))));
    response.writeHead(200, { 'content-type': request.headers['content-type'] ?? '' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers: () => headers,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Pairs };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

interface SentSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: Pairs;
  readonly links?: readonly { readonly traceId: string }[];
  readonly status?: { readonly code?: number };
}

type Pairs = readonly { readonly key: string; readonly value: Value }[];

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly Value[] };
}

function read({ resourceSpans }: Request): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, kind, traceId, spanId, parentSpanId = '', attributes, links = [], status }) => ({
        service: String(record(resource.attributes)['service.name']),
        name,
        kind,
        traceId,
        spanId,
        parentSpanId,
        attributes: record(attributes),
        links: links.map((link) => link.traceId),
        status: status?.code ?? 0,
      })),
    ),
  );
}

function record(pairs: Pairs): ReceivedSpan['attributes'] {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: Value): string | number | boolean | string[] {
  if (value.arrayValue) return value.arrayValue.values.map((one) => String(plain(one)));
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue ?? '';
}
