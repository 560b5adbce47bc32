import { openApiDocument } from '@akin/contract';
import type { Handler } from '../http/serve.ts';

/** The machine-readable description of the endpoints. */
export const openapi: Handler<unknown> = (_call, { version, legacySegment }) => ({
  body: openApiDocument({ version, legacySegment }),
  enveloped: false,
});

/** The same for the endpoints of old clients. */
export const openapiLegacy: Handler<unknown> = (_call, { version, legacySegment }) => ({
  body: openApiDocument({ version, legacySegment, legacy: true }),
  enveloped: false,
});
