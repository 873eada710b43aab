// Stored pictures of pages, compared with those of this build: what a test of single colours and texts
// does not see, such as a lane that moved. By hand:
//
//   node pictures.mjs WHORL TOOLS           compares
//   node pictures.mjs WHORL TOOLS --store   writes pictures/*.png and pictures/fonts.json again
//   node pictures.mjs WHORL TOOLS --readme  writes docs/run.png, the picture of README.md
//
// Fonts differ between machines, and texts with them: where the fonts are not those of the stored
// pictures, nothing is compared, and the caller is told so. A real run differs from time to time, so
// none is stored: its picture is compared with that of the same scenario, simulated, in what does not
// depend on when things happened.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { launch, open } from './browser.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const folder = join(here, 'pictures');
const STORIES = ['s4_token_goes_back', 'gc_pause_stale_token', 'fenced_leader_partitioned', 'pods_100_rolling_deployments'];
const LOOKS = [{ width: 1280, height: 800 }, { width: 390, height: 800 }];
const WIDTH = 480;       // of a stored picture, at most
const TOLERANCE = 0.004; // the share of pixels that may differ
const FAR = 48;          // how far a colour may be off in a pixel, of 255

// What texts of this machine look like: the widths of some in the page's font.
async function fontsOf(page) {
  return page.evaluate(() => {
    const context = document.createElement('canvas').getContext('2d');
    return [12, 15, 20].map((size) => {
      context.font = `${size}px system-ui, sans-serif`;
      return Math.round(100 * context.measureText('believes that it leads 0123456789').width) / 100;
    });
  });
}

// RGB pixels, rows of bytes, as a PNG: chromium's own are several times as large.
function encode(width, height, pixels) {
  const chunk = (kind, data) => {
    const whole = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
    const made = Buffer.alloc(whole.length + 8);
    made.writeUInt32BE(data.length, 0);
    whole.copy(made, 4);
    made.writeUInt32BE(crc32(whole) >>> 0, whole.length + 4);
    return made;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);  // 8 bits, RGB
  const row = 3 * width;
  const filtered = Buffer.alloc((row + 1) * height);
  for (let y = 0; y < height; ++y) {
    filtered[y * (row + 1)] = 2;  // the difference to the row above
    for (let x = 0; x < row; ++x) {
      filtered[y * (row + 1) + 1 + x] = pixels[y * row + x] - (y === 0 ? 0 : pixels[(y - 1) * row + x]);
    }
  }
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', header),
    chunk('IDAT', deflateSync(filtered, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = (crc >>> 1) ^ ((crc & 1) === 0 ? 0 : 0xedb88320);
  }
  return ~crc;
}

// A PNG at the width of stored pictures, in 4 bits a colour.
async function small(page, png) {
  const { width, height, pixels } = await page.evaluate(async ([data, most]) => {
    const image = await createImageBitmap(await (await fetch(data)).blob());
    const width = Math.min(most, image.width), height = Math.round(image.height * width / image.width);
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    const rgba = context.getImageData(0, 0, width, height).data;
    let pixels = '';
    for (let i = 0; i < rgba.length; ++i) {
      if (i % 4 !== 3) pixels += String.fromCharCode(Math.round(rgba[i] / 17) * 17);
    }
    return { width, height, pixels: btoa(pixels) };
  }, [`data:image/png;base64,${png.toString('base64')}`, WIDTH]);
  return encode(width, height, Buffer.from(pixels, 'base64'));
}

// The share of pixels that differ; 1 if the sizes do.
async function difference(page, a, b) {
  return page.evaluate(async ([one, other, far]) => {
    const pixels = async (data) => {
      const image = await createImageBitmap(await (await fetch(data)).blob());
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    };
    const [first, second] = [await pixels(one), await pixels(other)];
    if (first.width !== second.width || first.height !== second.height) return 1;
    let differing = 0;
    for (let i = 0; i < first.data.length; i += 4) {
      const off = [0, 1, 2].map((c) => Math.abs(first.data[i + c] - second.data[i + c]));
      if (Math.max(...off) > far) ++differing;
    }
    return differing / (first.data.length / 4);
  }, [...[a, b].map((png) => `data:image/png;base64,${png.toString('base64')}`), FAR]);
}

// Calls visit(name, png, workbench) for each story and look; the workbench is an empty page.
async function eachPicture(whorl, browser, visit) {
  const pages = mkdtempSync(join(tmpdir(), 'whorl-pictures-'));
  const workbench = await (await browser.newContext()).newPage();
  try {
    for (const story of STORIES) {
      const file = join(pages, `${story}.html`);
      execFileSync(whorl, ['replay', `scenarios/${story}.json`, '--html', file], { stdio: 'pipe' });
      for (const look of LOOKS) {
        const { page, context } = await open(browser, file, look);
        await visit(`${story}-${look.width}`, await small(workbench, await page.screenshot()), workbench);
        await context.close();
      }
    }
  } finally {
    await workbench.context().close();
    rmSync(pages, { recursive: true });
  }
}

async function fontsHere(browser) {
  const page = await (await browser.newContext()).newPage();
  const fonts = await fontsOf(page);
  await page.context().close();
  return fonts;
}

// What differs, a text for each picture; or, in `skipped`, why nothing was compared.
export async function comparePictures(whorl, browser) {
  const stored = join(folder, 'fonts.json');
  if (!existsSync(stored)) return { skipped: `${stored} is missing`, differing: [] };
  const wanted = JSON.stringify(JSON.parse(readFileSync(stored, 'utf8')).widths);
  const fonts = JSON.stringify(await fontsHere(browser));
  if (fonts !== wanted) {
    return { skipped: `this machine's fonts (${fonts}) are not those of the stored pictures (${wanted})`, differing: [] };
  }
  const differing = [];
  await eachPicture(whorl, browser, async (name, png, workbench) => {
    const share = await difference(workbench, png, readFileSync(join(folder, `${name}.png`)));
    if (share <= TOLERANCE) return;
    const seen = join(tmpdir(), `whorl-${name}.png`);
    writeFileSync(seen, png);
    differing.push(`${name}: ${(100 * share).toFixed(1)} % of its pixels differ (${seen})`);
  });
  return { skipped: '', differing };
}

export const REAL_RUN = join(here, 'real_run.json');

// What of a page does not depend on when things happened: names, verdicts with their figures left out,
// and the picture's column of names.
async function timeless(page) {
  return page.evaluate(() => {
    const texts = (selector) => [...document.querySelectorAll(selector)].map((one) => one.textContent.replace(/[0-9][0-9.,]*/g, '#'));
    // Of a real run less is expected than of a simulated one (AsOn in live/comparison.h).
    const verdicts = [...document.querySelectorAll('#invariants tbody tr')]
      .map((row) => [...row.children].slice(0, 3).map((cell) => cell.textContent).join(' '));
    const canvas = document.getElementById('picture');
    const names = document.createElement('canvas');
    names.width = Math.round((canvas.clientWidth < 600 ? 70 : 120) * devicePixelRatio);
    names.height = canvas.height;
    names.getContext('2d').drawImage(canvas, 0, 0);
    return {
      texts: {
        about: texts('#about'), headings: texts('h2'), nodes: texts('#filter-node option'),
        locks: texts('#filter-lock option'), verdicts, lanes: canvas.clientHeight,
      },
      picture: names.toDataURL().split(',')[1],
    };
  });
}

// What differs between the page of REAL_RUN on real processes and that of its simulation, a text for
// each.
export async function compareRealRun(whorl, browser, file) {
  const pages = mkdtempSync(join(tmpdir(), 'whorl-real-'));
  const workbench = await (await browser.newContext()).newPage();
  const differing = [];
  try {
    const simulated = join(pages, 'simulated.html');
    execFileSync(whorl, ['replay', REAL_RUN, '--html', simulated], { stdio: 'pipe' });
    for (const look of LOOKS) {
      const seen = [];
      for (const one of [file, simulated]) {
        const { page, context } = await open(browser, one, look);
        seen.push(await timeless(page));
        await context.close();
      }
      for (const [what, texts] of Object.entries(seen[0].texts)) {
        const [one, other] = [texts, seen[1].texts[what]].map((value) => JSON.stringify(value));
        if (one !== other) differing.push(`${look.width}: ${what}: ${one}, simulated ${other}`);
      }
      const share = await difference(workbench, ...seen.map(({ picture }) => Buffer.from(picture, 'base64')));
      if (share > TOLERANCE) differing.push(`${look.width}: ${(100 * share).toFixed(1)} % of the names' pixels differ`);
    }
  } finally {
    await workbench.context().close();
    rmSync(pages, { recursive: true });
  }
  return differing;
}

async function store(whorl, browser) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'fonts.json'), `${JSON.stringify({ widths: await fontsHere(browser) })}\n`);
  await eachPicture(whorl, browser, (name, png) => { writeFileSync(join(folder, `${name}.png`), png); });
}

// The first screen of the run that README.md tells.
async function readme(whorl, browser) {
  const pages = mkdtempSync(join(tmpdir(), 'whorl-readme-'));
  const file = join(pages, 'run.html');
  execFileSync(whorl, ['replay', 'scenarios/gc_pause_stale_token.json', '--html', file], { stdio: 'pipe' });
  const { page, context } = await open(browser, file, { width: 1280, height: 720 });
  await page.screenshot({ path: join(here, '../../docs/run.png') });
  await context.close();
  rmSync(pages, { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const whorl = process.argv[2];
  const browser = await launch();
  let code = 0;
  if (process.argv.includes('--store')) {
    await store(whorl, browser);
  } else if (process.argv.includes('--readme')) {
    await readme(whorl, browser);
  } else {
    const { skipped, differing } = await comparePictures(whorl, browser);
    if (skipped !== '') console.log(`SKIPPED: ${skipped}`);
    for (const text of differing) console.log(text);
    code = skipped !== '' ? 77 : differing.length > 0 ? 1 : 0;
  }
  await browser.close();
  process.exit(code);
}
