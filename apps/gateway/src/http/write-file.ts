import type { Request, Response } from 'express';
import { endResponse } from './end-response.ts';
import type { FileResult } from './handler-result.ts';
import { untilWritable } from './write-stream.ts';

/** Writes a part of a file, no faster than the client reads. */
export async function writeFile(result: FileResult, request: Request, response: Response): Promise<void> {
  response.statusCode = result.status ?? 200;
  response.setHeader('content-type', result.type);
  response.setHeader('content-length', result.length);
  for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, value);
  if (request.method === 'HEAD') return void response.end();
  let written = 0;
  for await (const chunk of result.read()) {
    if (response.destroyed) return;
    written += chunk.length;
    if (!response.write(chunk)) await untilWritable(response);
  }
  // If the file has become shorter, the client must not wait for the rest.
  if (written < result.length) response.destroy();
  else endResponse(response);
}
