import { openApiDocument } from '@akin/contract';
import type { Handler } from '../http/serve.ts';

/** The machine-readable description of what is served here. */
export const openapi: Handler<unknown> = (_call, { version, legacySegment }) => ({
  body: openApiDocument({ version, legacySegment }),
  enveloped: false,
});
