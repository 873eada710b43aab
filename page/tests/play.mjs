// node play.mjs WHORL TOOLS: tests of `whorl play` in a real browser. Exit codes: 0 passed, 1 failed, 77 skipped, since
// chromium or npm's packages are missing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, missing, require } from './browser.mjs';

const whorl = process.argv[2];
if (missing() !== '') {
  console.log(`SKIPPED: whorl play is not tested in a browser, for want of ${missing()}`);
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), 'whorl-play-'));
const server = spawn(whorl, ['play', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
const url = await new Promise((done, fail) => {
  server.once('exit', (code) => { fail(new Error(`whorl play ended with ${code}`)); });
  server.stdout.once('data', (text) => { done(String(text).trim()); });
});
const browser = await launch();

const tests = [];
const test = (claim, body) => tests.push([claim, body]);

async function playing(size, body) {
  const context = await browser.newContext({ viewport: size });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => { if (message.type() === 'error') complaints.push(message.text()); });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => { if (!request.url().startsWith(new URL(url).origin)) complaints.push(request.url()); });
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.dataset.run !== undefined);
  await body(page);
  assert.deepEqual(complaints, [], 'a console error, or a request to elsewhere');
  await context.close();
}
const WIDE = { width: 1280, height: 900 };

// Does something that changes the scenario, and waits until its run is there. Returns the milliseconds.
async function changes(page, act) {
  const before = await page.evaluate(() => document.documentElement.dataset.run);
  const began = Date.now();
  await act();
  await page.waitForFunction((then) => document.documentElement.dataset.run !== then, before);
  return Date.now() - began;
}

test('the first screen has a pause and what it does to a lease', () => playing(WIDE, async (page) => {
  assert.match(await page.inputValue('#text'), /"do": "pause"/);
  assert.match(await page.textContent('#verdict'), /single_worker/);
  const frame = page.frameLocator('#run');
  assert.match(await frame.locator('#verdict').textContent(), /although [abc] held the lock/);
  assert.ok(await frame.locator('#picture').isVisible());
  assert.ok(await page.isVisible('#explained'));
}));

test('a change is run within a second or so', () => playing(WIDE, async (page) => {
  const text = await page.inputValue('#text');
  const took = await changes(page, () => page.fill('#text', text.replace(/"for": "\d+s"/, '"for": "1s"')));
  console.log(`  a change was run after ${took} ms`);
  assert.doesNotMatch(await page.textContent('#verdict'), /single_leader_belief/);
}));

test('a mistake names its line, and the last run stays, paler', () => playing(WIDE, async (page) => {
  const text = await page.inputValue('#text');
  await changes(page, () => page.fill('#text', text.replace('"pause"', '"paus"')));
  const error = await page.textContent('#errors');
  assert.match(error, /line \d+: .*"pause"/);
  assert.equal(await page.evaluate(() => document.body.classList.contains('stale')), true);
  await page.click('#errors button');
  assert.match(await page.evaluate(() => {
    const area = document.getElementById('text');
    return area.value.slice(area.selectionStart, area.selectionEnd);
  }), /"paus"/);
  await changes(page, () => page.fill('#text', text));
  assert.equal(await page.textContent('#errors'), '');
}));

test('words that fit are offered, and taken by Ctrl and Space', () => playing(WIDE, async (page) => {
  await page.fill('#text', '{ "version": 1, "protocol": "fenced_lease", "faults": [ { "do": "pa');
  await page.press('#text', 'End');
  assert.deepEqual(await page.$$eval('#words button', (all) => all.map((one) => one.textContent)), ['"pause"', '"partition"']);
  await page.press('#text', 'Control+Space');
  assert.match(await page.inputValue('#text'), /"do": "pause"$/);
  await page.fill('#text', '{ "version": 1, "wor');
  await page.press('#text', 'End');
  await page.click('#words button');
  assert.equal(await page.inputValue('#text'), '{ "version": 1, "workload"');
}));

test('"Make it fail" finds a smaller scenario, and the way back', () => playing(WIDE, async (page) => {
  await page.selectOption('#start', 'a quiet run');
  await page.selectOption('#protocol', 'spindle_v2');
  await changes(page, () => page.click('#begin button'));
  assert.match(await page.textContent('#verdict'), /No invariant was violated/);
  const quiet = await page.inputValue('#text');
  await changes(page, () => page.click('#hunt'));
  assert.match(await page.textContent('#said'), /Found in \d+ runs/);
  assert.match(await page.textContent('#verdict'), / violated/);
  await changes(page, () => page.click('#undo'));
  assert.equal(await page.inputValue('#text'), quiet);
}));

test('what is saved lies in the folder, and says where', () => playing(WIDE, async (page) => {
  await page.fill('#name', 'from_play');
  await page.click('#keep button');
  await page.waitForFunction(() => document.getElementById('said').textContent.startsWith('Saved as'));
  assert.equal(readFileSync(join(folder, 'from_play.json'), 'utf8'), await page.inputValue('#text'));
  await page.fill('#name', '../up');
  await page.click('#keep button');
  await page.waitForFunction(() => document.getElementById('said').textContent.includes('a name has letters'));
  assert.ok(!existsSync(join(folder, '../up.json')));
}));

for (const size of [WIDE, { width: 390, height: 844 }]) {
  for (const colorScheme of ['light', 'dark']) {
    test(`axe finds nothing at ${size.width}, ${colorScheme}`, () => playing(size, async (page) => {
      await page.emulateMedia({ colorScheme });
      const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
      const found = await page.evaluate(`(async () => { ${axe}; return (await axe.run({ exclude: ['#run'] })).violations
        .map((one) => one.id + ': ' + one.nodes.map((node) => node.target).join(' ')); })()`);
      assert.deepEqual(found, []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      assert.equal(wide, false, 'the page is wider than its window');
    }));
  }
}

let failed = 0;
for (const [claim, body] of tests) {
  try {
    await body();
    console.log(`ok    ${claim}`);
  } catch (error) {
    ++failed;
    console.log(`FAIL  ${claim}\n${error.stack}`);
  }
}
await browser.close();
server.removeAllListeners('exit');
const code = await new Promise((done) => { server.once('exit', done); server.kill('SIGINT'); });
if (code !== 0) { ++failed; console.log(`FAIL  Ctrl-C ended whorl play with ${code}`); }
rmSync(folder, { recursive: true });
console.log(`${tests.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
