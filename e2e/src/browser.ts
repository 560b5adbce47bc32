import { existsSync } from 'node:fs';
import { expect } from '@jest/globals';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** The first one draws no window around the page. For the others, the window takes as much CPU time as the page. */
const BROWSERS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** How long a busy machine may take for whatever a test waits for in a page. */
const TIMEOUT_MILLISECONDS = 240_000;

/** Starts the browser of this machine. @throws Error that names the command which installs one */
export async function startBrowser(): Promise<Browser> {
  const executablePath = BROWSERS.find((file) => existsSync(file));
  if (!executablePath) throw new Error('No browser to test the page with: apt-get install chromium-headless-shell');
  return chromium.launch({ executablePath, args: FLAGS, timeout: TIMEOUT_MILLISECONDS });
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of scripts, the console and the security policy, and requests to other servers. */
  readonly complaints: string[];
}

/** What one user of a browser has: its pages share their cache and what they store. */
export async function newContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({
    permissions: ['clipboard-read', 'clipboard-write'],
    // Without a GPU, endless animations take a quarter of the processor time.
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(TIMEOUT_MILLISECONDS);
  return context;
}

/** Opens a page as a new user. */
export async function openPage(browser: Browser, address: string): Promise<WatchedPage> {
  return openPageIn(await newContext(browser), address);
}

export async function openPageIn(context: BrowserContext, address: string): Promise<WatchedPage> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  // The page asks only akin: no other server learns who looks at it.
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== new URL(address).origin) complaints.push(`asks ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address);
  return { page, context, complaints };
}

/** Expects that axe finds nothing wrong in a page. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
  expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
}
