import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });

/**
 * Sends a request and reads the whole response.
 *
 * @param {string | URL} url
 * @param {{ method?: string, headers?: Record<string, string | number>, body?: string | NodeJS.ReadableStream }} options
 * @returns {Promise<Buffer>}
 * @throws the error, or the response if its status is not a success
 */
export function send(url, { method = 'GET', headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const whole = Buffer.concat(chunks);
        const { statusCode = 0 } = response;
        if (statusCode < 300) resolve(whole);
        else reject(new Error(`${method} ${url} answered ${statusCode}: ${whole.toString().slice(0, 500)}`));
      });
    });
    sent.on('error', reject);
    if (body === undefined || typeof body === 'string') sent.end(body);
    else body.pipe(sent);
  });
}

export async function sendJson(url, options) {
  return JSON.parse((await send(url, options)).toString());
}

/** Sends a file of documents as one update. It streams the file from the disk. */
export async function sendDocuments(collectionUrl, file) {
  const { size } = await stat(file);
  const headers = { 'content-type': 'application/json', 'content-length': size };
  return sendJson(`${collectionUrl}/update`, { method: 'POST', headers, body: createReadStream(file) });
}

/** Makes accepted changes visible, and waits until they are. */
export function publish(collectionUrl) {
  return sendJson(`${collectionUrl}/update?commit=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
}

/** Milliseconds that some work takes. */
export async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
