import { openApiDocument } from '@akin/contract';
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
