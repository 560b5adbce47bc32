import type { Request, Response } from 'express';
import type { FileAnswer } from './answer.ts';
import { endAnswer } from './end-answer.ts';
import { untilWritable } from './write-stream.ts';

/** Writes a part of a file, no faster than the client reads. */
export async function writeFile(answer: FileAnswer, request: Request, response: Response): Promise<void> {
  response.statusCode = answer.status ?? 200;
  response.setHeader('content-type', answer.type);
  response.setHeader('content-length', answer.length);
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (request.method === 'HEAD') return void response.end();
  let written = 0;
  for await (const chunk of answer.read()) {
    if (response.destroyed) return;
    written += chunk.length;
    if (!response.write(chunk)) await untilWritable(response);
  }
  // If the file has become shorter, the client must not wait for the rest.
  if (written < answer.length) response.destroy();
  else endAnswer(response);
}
