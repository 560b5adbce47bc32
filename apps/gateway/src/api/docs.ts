import { openApiDocument } from '@akin/contract';
import { DOCS_HEADERS, renderDocs } from '../html/docs-page.ts';
import type { Handler } from '../http/serve.ts';

export const docs: Handler<unknown> = (_call, { version, legacySegment }) => ({
  type: 'text/html; charset=utf-8',
  bytes: renderDocs(openApiDocument({ version, legacySegment }), legacySegment),
  headers: DOCS_HEADERS,
});
