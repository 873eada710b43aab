// node screenshots.mjs FOLDER TOOLS FILE...: pictures of pages at two widths, and in the dark.
import { basename, join } from 'node:path';
import { launch, open } from './browser.mjs';

const [, , folder, , ...files] = process.argv;
const browser = await launch();
for (const file of files) {
  const looks = [{ width: 1280 }, { width: 390, height: 844 }, { width: 1280, dark: true }];
  for (const look of looks) {
    const { page, context } = await open(browser, file, look);
    const name = `${basename(file, '.html')}-${look.width}${look.dark ? '-dark' : ''}.png`;
    await page.screenshot({ path: join(folder, name), fullPage: look.width === 390 });
    await context.close();
  }
}
await browser.close();
