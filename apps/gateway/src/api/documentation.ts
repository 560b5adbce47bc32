import { openApiDocument } from '@akin/contract';
import { DOCS_HEADERS, renderDocs } from '../html/docs-page.ts';
import type { Handler } from '../http/serve.ts';

export const openapi: Handler<unknown> = (_call, { version, legacySegment }) => ({
  body: openApiDocument({ version, legacySegment }),
  enveloped: false,
});

/** For the endpoints of old clients. */
export const openapiLegacy: Handler<unknown> = (_call, { version, legacySegment }) => ({
  body: openApiDocument({ version, legacySegment, legacy: true }),
  enveloped: false,
});

export const docs: Handler<unknown> = (_call, { version, legacySegment }) => ({
  type: 'text/html; charset=utf-8',
  bytes: renderDocs(openApiDocument({ version, legacySegment }), legacySegment),
  headers: DOCS_HEADERS,
});
