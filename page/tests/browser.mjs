// Opens pages in Debian's chromium, for the tests beside this file.
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export const tools = resolve(process.argv[3] ?? '.deps/page');
export const require = createRequire(join(tools, 'package.json'));
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));

// What is missing to test pages; empty if nothing is.
export function missing() {
  if (chromium === undefined) return 'chromium (Debian: chromium)';
  for (const name of ['playwright-core', 'axe-core']) {
    if (!existsSync(join(tools, 'node_modules', name))) return `${name} in ${tools}`;
  }
  return '';
}

export function launch() {
  return require('playwright-core').chromium.launch({
    executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'],
  });
}

// Opens a file. `complaints` gathers console errors and requests, of which there must be none.
export async function open(browser, file, { width = 1280, height = 900, hash = '', dark = false } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const url = pathToFileURL(file).href;
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== url) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(url + hash);
  await page.waitForSelector('html[data-ready=true]', { timeout: 60_000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page, context, complaints };
}
