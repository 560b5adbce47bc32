import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';

/** Keeps a screenshot in the folder that AKIN_SCREENSHOTS names, for people to look at. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.AKIN_SCREENSHOTS;
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}
