// node run.mjs WHORL TOOLS [--large]: tests of the page in a real browser. Exit codes: 0 passed, 1
// failed, 77 skipped, since chromium or npm's packages are missing. --large also measures a run of
// 1,000,000 events, prints its figures, and holds them to their bounds.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, missing, open, require } from './browser.mjs';
import { comparePictures, compareRealRun, REAL_RUN } from './pictures.mjs';

const whorl = process.argv[2];
if (missing() !== '') {
  console.log(`SKIPPED: the page is not tested in a browser, for want of ${missing()}`);
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), 'whorl-page-'));
const browser = await launch();

// The page of a scenario.
function pageOf(scenario, ...options) {
  const file = join(folder, `${scenario.split('/').at(-1)}.html`);
  try {
    execFileSync(whorl, ['replay', scenario, '--html', file, ...options], { stdio: 'pipe' });
  } catch (error) {
    if (error.status !== 1) throw error;  // an expectation failed, and the page says so
  }
  return file;
}
const paused = pageOf('scenarios/gc_pause_stale_token.json');
const partitioned = pageOf('scenarios/fenced_leader_partitioned.json');

const tests = [];
const test = (claim, body) => tests.push([claim, body]);
async function with_(file, options, body) {
  const { page, context, complaints } = await open(browser, file, options);
  await body(page);
  assert.deepEqual(complaints, [], 'a console error, or a request');
  await context.close();
}
// How many pixels of the canvas have about the colour of that name.
const pixels = (page, name, picture = 'picture') => page.evaluate(([wanted, id]) => {
  const probe = document.createElement('canvas').getContext('2d');
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${wanted}`).trim();
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  const canvas = document.getElementById(id);
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 6) ++count;
  }
  return count;
}, [name, picture]);
// The texts that the picture draws.
async function drawnTexts(page) {
  await page.evaluate(() => {
    window.drawn = [];
    const draw = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function(text, ...where) { window.drawn.push(text); draw.call(this, text, ...where); };
    document.getElementById('zoom-all').click();
  });
  await settled(page);
  return page.evaluate(() => window.drawn);
}
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const current = (page) => page.evaluate(() => Number(new URLSearchParams(location.hash.slice(1)).get('event')));

test('the first screen says what was violated, and what saved the data', () => with_(paused, {}, async (page) => {
  assert.equal(await page.textContent('#verdict'), 'At 35.010 s a wrote although b held the lock: the resource that ' +
    'checks tokens refused it, the one that does not check them accepted it.');
  const box = await (await page.$('#picture')).boundingBox();
  assert.ok(box.y + box.height < 900, 'the picture is on the first screen');
}));

// A violation is named once in the head, with what a reader asks next.
test('a small table says of each violation whether it was promised and expected, and when it was first', () => with_(paused, {}, async (page) => {
  const rows = await page.$$eval('#broken tr', (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(rows.map((row) => row.slice(0, 3)), [['violated invariant', 'promised', 'expected'],
    ['single_worker', 'not promised', 'yes'], ['single_leader_belief', 'not promised', 'yes']]);
  assert.match(rows[1][3], /^27\.201270 s: b began work under lock "lock" while a was still at work \(\d+ in all\)$/);
  const head = await page.textContent('header');
  assert.equal(head.split('single_leader_belief').length - 1, 1, head);
  assert.equal(await page.$$eval('#invariants tbody tr', (all) => all.length) > 10, true, 'all invariants are below');
}));

// Red is for harm: who expected a violation and got none has a file to mend.
test('a failed run without a violation says what was expected, and no good news in red or green', async () => {
  const file = join(folder, 'unmet.json');
  writeFileSync(file, JSON.stringify({ version: 1, about: 'It expects what does not happen.', protocol: 'fenced_lease',
    lease: '5s', nodes: ['a', 'b'], duration: '30s', seed: 3, expect: { violates: ['single_worker'] } }));
  await with_(pageOf(file), {}, async (page) => {
    assert.match(await page.textContent('#verdict'), /^No invariant was violated/);
    assert.equal(await page.getAttribute('#verdict', 'class'), 'plain');
    assert.match(await page.textContent('#failures'), /^Not as expected: .*single_worker/);
    assert.equal(await page.isVisible('#broken'), false);
  });
});

test('each lane has its colours at first paint, violations among them', () => with_(paused, {}, async (page) => {
  for (const name of ['bad', 'up', 'believes', 'works', 'paused', 'fault', 'lease', 'holder', 'accepted', 'refused', 'call']) {
    assert.ok(await pixels(page, name) > 20, `nothing has the colour ${name}`);
  }
}));

test('a partition is drawn as a cut, with the calls that were lost', () => with_(partitioned, {}, async (page) => {
  assert.ok(await pixels(page, 'cut') > 20);
  assert.ok(await pixels(page, 'failed-call') > 20);
  assert.equal(await pixels(page, 'bad'), 0);
  assert.match(await page.textContent('#verdict'), /No invariant was violated/);
}));

test('pointing at the picture shows the event, and a click chooses it', () => with_(partitioned, {}, async (page) => {
  const box = await (await page.$('#picture')).boundingBox();
  const row = await page.evaluate(() => document.getElementById('picture').clientHeight);
  let seen = '';
  for (let y = 30; y < row && !/fault partition/.test(seen); y += 10) {
    const x = box.x + 124 + (box.width - 130) * 20 / 60;
    await page.mouse.move(x, box.y + y);
    await page.mouse.move(x + 1, box.y + y);
    if (await page.isVisible('#tip')) seen = await page.textContent('#tip');
    if (/fault partition/.test(seen)) await page.mouse.click(x + 1, box.y + y);
  }
  assert.match(seen, /20\.0\d+ s  .*fault partition/);
  assert.match(await page.textContent('#detail'), /fault partition/);
}));

test('keys go to the next event, the one before, and the next violation', () => with_(paused, {}, async (page) => {
  const first = await current(page) || 2364;
  await page.keyboard.press('j');
  assert.equal(await current(page), first + 1);
  await page.keyboard.press('k');
  assert.equal(await current(page), first);
  await page.keyboard.press('v');
  assert.ok(await current(page) > first);
  assert.match(await page.textContent('#detail'), /violated/);
  await page.keyboard.press('?');
  assert.ok(await page.isVisible('#help'));
  await page.keyboard.press('Escape');
  await page.keyboard.press('+');
  assert.match(await page.evaluate(() => location.hash), /from=\d+&to=\d+/);
}));

test('a link names an event and the zoom', () =>
  with_(paused, { hash: '#event=1234&from=10000000000&to=20000000000' }, async (page) => {
    assert.match(await page.textContent('#detail'), /1234 of \d+/);
    assert.match(await page.getAttribute('#picture', 'aria-label'), /from 10\.000000 to 20\.000000 s/);
    await page.click('#story a >> nth=1');
    await page.waitForFunction(() => document.querySelector('#detail').textContent.includes('begins') ||
      document.querySelector('#detail').textContent.includes('believes'));
  }));

test('an event shows the row before and after, and what its process knew', () => with_(paused, {}, async (page) => {
  await page.fill('#search', 'row committed');
  await page.click('#story a >> text=takeover_update committed');
  await page.waitForFunction(() => document.querySelector('#detail').textContent.includes('The row before and after'));
  const detail = await page.textContent('#detail');
  assert.match(detail, /token0\.008625\d* s27\.024756\d* s/);
  assert.match(detail, /What b knew then/);
}));

test('filters and search leave the events that match', () => with_(paused, {}, async (page) => {
  await page.selectOption('#filter-node', { label: 'b' });
  await page.fill('#search', 'takeover_update');
  await page.waitForFunction(() => document.querySelectorAll('#list button').length > 0);
  const texts = await page.$$eval('#list .text', (all) => all.map((one) => one.textContent));
  assert.ok(texts.length > 0 && texts.every((text) => text.includes('takeover_update')), texts.join('\n'));
  await page.fill('#search', 'no such words');
  await page.waitForFunction(() => document.querySelector('#events-count').textContent === 'No event passes the filters.');
  assert.equal(await pixels(page, 'paused') < 20, true, 'the lane of a is left out');
}));

test('names from a scenario are text and nothing else', () => {
  const file = pageOf(new URL('hostile.json', import.meta.url).pathname);
  return with_(file, {}, async (page) => {
    assert.equal(await page.$$eval('img, b', (all) => all.length), 0);
    assert.match(await page.title(), /^hostile: whorl$/);
    assert.match(await page.textContent('#about'), /<\/script><img src=x onerror/);
    assert.equal(await page.$eval('#filter-node option:nth-child(2)', (one) => one.textContent),
      '</script><img src=x onerror=alert(1)>');
  });
});

test('no request can leave the page', async () => {
  const { page, context } = await open(browser, partitioned);
  const outcome = await page.evaluate(async () => {
    const refused = [];
    document.addEventListener('securitypolicyviolation', (event) => refused.push(event.violatedDirective));
    await fetch('https://example.invalid/').catch(() => {});
    const image = new Image();
    await new Promise((done) => { image.onerror = done; image.src = 'https://example.invalid/x.png'; });
    const script = document.createElement('script');
    script.textContent = 'document.title = "stolen"';
    document.body.append(script);
    await new Promise((done) => setTimeout(done));
    return { refused, title: document.title };
  });
  assert.ok(outcome.refused.includes('connect-src') && outcome.refused.includes('img-src'), outcome.refused.join());
  assert.notEqual(outcome.title, 'stolen');
  await context.close();
});

test('axe-core finds nothing serious, in light and dark', async () => {
  const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  for (const dark of [false, true]) {
    const { page, context } = await open(browser, paused, { dark });
    const found = await page.evaluate(`(async () => { ${axe}; return (await axe.run()).violations
      .filter((one) => one.impact === 'serious' || one.impact === 'critical')
      .map((one) => one.id + ': ' + one.nodes[0].html); })()`);
    assert.deepEqual(found, []);
    await context.close();
  }
});

test('the dark page is dark, canvas included', () => with_(paused, { dark: true }, async (page) => {
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(20, 23, 28)');
  assert.ok(await pixels(page, 'ground') > 10_000);
}));

test('nothing is wider than a phone', () => with_(paused, { width: 390, height: 844 }, async (page) => {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
}));

test('it prints the picture and leaves the controls out', () => with_(paused, {}, async (page) => {
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.isVisible('#filters'), false);
  assert.equal(await page.isVisible('#picture'), true);
}));

// A long word is no news: what does not fit says less, and ends where a word ends.
test('labels that do not fit say less, and are not cut within a word', () =>
  with_(pageOf('scenarios/s4_token_goes_back.json'), {}, async (page) => {
    const texts = await drawnTexts(page);
    assert.deepEqual(texts.filter((text) => /…$/.test(text)), []);
    // c holds the lock for too short a time to name its token, and b for long enough.
    assert.ok(texts.includes('c') && texts.some((text) => /^b, token /.test(text)), texts.join('|'));
  }));

test('the event stands beside the picture on a wide screen, and below it on a phone', async () => {
  for (const [width, beside] of [[1280, true], [390, false]]) {
    await with_(paused, { width }, async (page) => {
      const [picture, event] = [await (await page.$('#frame')).boundingBox(), await (await page.$('#event-section')).boundingBox()];
      assert.equal(event.x >= picture.x + picture.width, beside);
      assert.equal(event.y >= picture.y + picture.height, !beside);
    });
  }
});

test('the key of violations brings the picture and the event into view', async () => {
  for (const look of [{ width: 1280, height: 700 }, { width: 390, height: 844 }]) {
    await with_(paused, look, async (page) => {
      await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
      await page.keyboard.press('v');
      assert.match(await page.textContent('#detail p'), /violated/);
      const tops = await page.evaluate(() => ['picture', 'detail'].map((id) => document.getElementById(id).getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]));
      for (const [top, bottom] of tops) assert.ok(bottom > 60 && top < look.height - 60, JSON.stringify(tops));
    });
  }
});

// --- a hundred pods -------------------------------------------------------------------------------

const hundred = (() => {
  const scenario = join(folder, 'hundred.json');
  writeFileSync(scenario, JSON.stringify({ version: 1, about: 'The leader of a hundred is paused.', protocol: 'spindle_v3', lease: '5s',
    nodes: [{ name: 'payment-service-7f9c4d', count: 100, use: 'callback' }], duration: '60s', seed: 3,
    workload: { write_every: '200ms', work_for: '50ms', resource: 'both' },
    faults: [{ at: '30s', do: 'pause', node: 'leader', for: '12s' }] }));
  return pageOf(scenario);
})();

test('of a hundred pods the lock, its writes and those that led come first, the others are one band', () => with_(hundred, {}, async (page) => {
  const rows = async () => /rows from above: (.*)\.$/.exec(await page.getAttribute('#picture', 'aria-label'))[1].split('; ');
  assert.deepEqual((await rows()).map((row) => row.replace(/\d+$/, '#')), ['violations', 'faults', 'lock row', 'writes, fenced',
    'writes, not fenced', 'payment-service-7f9c4d-#', 'payment-service-7f9c4d-#', 'Spanner', '98 never led']);
  const height = () => page.evaluate(() => document.getElementById('picture').clientHeight);
  const folded = await height();
  assert.ok(folded < 420, `${folded} pixels`);
  // A click on the band shows all, and another folds them again.
  const box = await (await page.$('#picture')).boundingBox();
  await page.mouse.click(box.x + 500, box.y + folded - 12);
  assert.ok(await height() > 2000);
  assert.equal(await page.getAttribute('#fold', 'aria-expanded'), 'true');
  await page.keyboard.press('f');
  assert.equal(await height(), folded);
}));

test('a violation that was not expected is named once, in the table', () => with_(hundred, {}, async (page) => {
  assert.equal((await page.textContent('#verdict, #failures')).includes('single_worker'), false);
  assert.equal(await page.textContent('#failures'), '');
  assert.deepEqual(await page.$$eval('#broken tbody tr', (all) => all.map((row) => row.children[2].textContent)), ['no', 'no']);
  assert.equal((await page.textContent('header')).split('single_worker').length - 1, 1);
}));

test('names of pods keep the ends that tell them apart', () => with_(hundred, {}, async (page) => {
  const texts = await drawnTexts(page);
  assert.ok(texts.filter((text) => /^….*-\d+$/.test(text)).length >= 2, texts.join('|'));
}));

// What tokens that go back do to the holder stands in the first line.
test('the head says how many writes of the rightful holder were refused', () => {
  return with_(pageOf('scenarios/s12_tokens_are_hashes.json'), {}, async (page) => {
    assert.match(await page.textContent('#verdict'),
      /^\d+ writes of the rightful holder were refused, the first at [0-9.]+ s \(of [a-z]+\): the resource had taken a greater token before\.$/);
    assert.equal(await page.getAttribute('#verdict', 'class'), 'bad');
    assert.match(await page.textContent('#also'), /\d+ writes of the holder refused/);
  });
});

// --- when a violation was decided -----------------------------------------------------------------

// Whether the pause strikes while a question is on its way is for chance to say.
const drawn = pageOf('scenarios/semaphore_pause_two_leaders.json');

test('what chance decided has a curve, and the step that decided it', () => with_(drawn, {}, async (page) => {
  const decision = await page.evaluate(() => JSON.parse(document.getElementById('head').textContent).decision);
  assert.ok(decision.moments.length > 5);
  assert.equal(decision.moments.at(-1).continuations, 0);
  assert.match(await page.textContent('#also'),
    /When it was decided: chance has a part in it; of 200 other runs of the scenario, .* \d+ % violate single_leader_belief/);
  // The curve is in the colour of violations, above the axis, where nothing else has it.
  const drawnAbove = await page.evaluate(() => {
    const canvas = document.getElementById('picture');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, Math.round(90 * devicePixelRatio));
    let red = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] > 150 && data[i + 1] < 40 && data[i + 2] < 60) ++red;
    return red;
  });
  assert.ok(drawnAbove > 200, `${drawnAbove} pixels`);
  await page.click('#also a >> text=/^At /');
  await page.waitForFunction(() => /true time/.test(document.querySelector('#detail').textContent));
}));

test('what the scenario decides is said in words, and has no curve', () => with_(paused, {}, async (page) => {
  assert.match(await page.textContent('#also'), /decided: by the scenario, not by chance; certain from 0 s on, the start of the run: all of 200 other runs .* violate single_worker as well/);
  assert.equal(await page.evaluate(() => JSON.parse(document.getElementById('head').textContent).decision.moments.length), 2);
}));

// --- two runs, many runs, benchmarks --------------------------------------------------------------

// Runs whorl; expectations that failed and traces that differ are no errors here.
function run(...words) {
  try {
    execFileSync(whorl, words, { stdio: 'pipe' });
  } catch (error) {
    if (error.status !== 1) throw error;
  }
}
const both = join(folder, 'both.html');
run('replay', 'scenarios/insert_race.json', '--seed', '1', '--repeat', '2', '--trace', folder);
run('diff', join(folder, 'insert_race.1.jsonl'), join(folder, 'insert_race.2.jsonl'), '--html', both);
const index = join(folder, 'index.html');
run('report', 'scenarios/gc_pause_stale_token.json', 'scenarios/fenced_leader_partitioned.json',
  'scenarios/s4_token_goes_back.json', 'scenarios/lease_lock_start.json', '--html', index, '--pages', join(folder, 'pages'));
const takeovers = join(folder, 'takeover.html');
run('bench', 'takeover', '--lease', '10s', '--fault', 'crash', '--runs', '20', '--html', takeovers);
const costs = join(folder, 'cost.html');
run('bench', 'cost', '--protocol', 'fenced_lease,lease_lock', '--lease', '10s,30s', '--takeovers', '20', '--herd', '10,100', '--largest', '100', '--locks', '1', '--html', costs);

const nearest = join(folder, 'nearest.html');
run('diff', 'scenarios/semaphore_pause_two_leaders.json', '--nearest', '--html', nearest);

test('a failing run is beside the nearest one that passes, aligned where chance parted them', () => with_(nearest, {}, async (page) => {
  assert.match(await page.textContent('#verdict'), /The first 465 events are alike\. Event 466 is the first that differs/);
  assert.match(await page.textContent('#about'), /single_leader_belief violated at 12\.513106 s.*the nearest run that passes draws chance anew from 10\.000000 s/);
  assert.match(await page.textContent('#title-0'), /A: single_leader_belief is violated/);
  assert.match(await page.textContent('#title-1'), /B: single_leader_belief holds/);
  // The violation is drawn in the failing run, and nowhere in the other.
  await page.click('#zoom-all');
  const [failing, passing] = [await pixels(page, 'bad', 'picture-0'), await pixels(page, 'bad', 'picture-1')];
  assert.ok(failing > 20 && passing === 0, `${failing} and ${passing} pixels`);
}));

// --- a run on real processes ----------------------------------------------------------------------

// On the emulator where it is installed, on whorl's own server otherwise; both end with the command.
const real = (() => {
  const file = join(folder, 'real.html');
  let why = '';
  for (const on of ['emulator', 'server']) {
    try {
      execFileSync(whorl, ['replay', REAL_RUN, '--on', on, '--html', file], { stdio: 'pipe', timeout: 120_000 });
      return { on, file };
    } catch (error) {
      if (error.status === 1 && existsSync(file)) return { on, file };
      why += ` --on ${on}: ${String(error.stderr).trim()}`;
    }
  }
  console.log(`SKIPPED: no page of a real run is tested:${why}`);
  return null;
})();
if (real !== null && real.on !== 'emulator') console.log('SKIPPED: the real run is not on the emulator, which is not installed');

if (real !== null) {
  test(`the page of a run on real processes (${real.on}) says so, and what became of it`, () => with_(real.file, {}, async (page) => {
    assert.match(await page.textContent('body'), new RegExp(`--on ${real.on}`));
    assert.match(await page.textContent('#verdict'), /No invariant was violated/);
    assert.match(await page.textContent('#story, #about'), /gives the lock back/);
    for (const name of ['up', 'believes', 'holder', 'lease', 'call', 'accepted']) {
      assert.ok(await pixels(page, name) > 20, `nothing has the colour ${name}`);
    }
    assert.equal(await pixels(page, 'bad'), 0);
    await page.selectOption('#filter-node', { label: 'b' });
    await page.fill('#search', 'believes');
    await page.waitForFunction(() => document.querySelectorAll('#list button').length > 0);
  }));

  test('its picture is that of the simulated run, but for when things happened', async () => {
    assert.deepEqual(await compareRealRun(whorl, browser, real.file), []);
  });
}

const recorded = (() => {
  const file = join(folder, 'recorded.html');
  try {
    execFileSync('sh', ['-c', `${whorl} check examples/check/*.jsonl --protocol spindle_v2 --html ${file}`], { stdio: 'pipe' });
  } catch (error) {
    if (error.status !== 1) throw error;  // a violation was found, and the page says so
  }
  return file;
})();

test('a recorded history is a run: its verdict, its lanes, its story, the row of an event', () => with_(recorded, {}, async (page) => {
  assert.equal(await page.textContent('#verdict'),
    'Lease respected; two workers side by side for at least 5.033 s, from 59.528247 s on.');
  assert.match(await page.textContent('#broken'),
    /single_leader_belief.*59\.518249 s: pod-b believed that it leads lock "nightly" while pod-a did/);
  assert.match(await page.textContent('#name'), /recorded by others/);
  assert.match(await page.textContent('#origin'), /To judge this history again: whorl check .*--protocol spindle_v2/);
  assert.match(await page.textContent('#story'), /inferred: pod-a was silent for .* \(paused\?\)/);
  for (const name of ['up', 'believes', 'works', 'fault', 'call', 'lease', 'bad']) {
    assert.ok(await pixels(page, name) > 0, `nothing has the colour ${name}`);
  }
  await page.fill('#search', 'pod-b took it');
  await page.click('#list button');
  assert.match(await page.textContent('#detail'), /likely time.*The row before and after.*writer.*pod-apod-b/s);
}));

// The time in the head is that of an event, not of what was recorded next.
test('a violation of a recorded history is an event at its time', () => with_(recorded, {}, async (page) => {
  for (const name of ['single_leader_belief', 'single_worker']) {
    const row = await page.$(`#broken tr:has-text("${name}")`);
    const [time] = /\d+\.\d{6}/.exec(await row.$eval('td:last-child', (one) => one.textContent));
    await (await row.$('a')).click();
    await page.waitForFunction((wanted) => document.querySelector('#detail').textContent.startsWith(`${wanted} violated.`), name);
    const shown = await page.$eval('#detail tr:has(th:text-is("likely time")) td', (one) => one.textContent).catch(async () =>
      (/likely time([0-9.]+) s/.exec(await page.textContent('#detail')) ?? [])[1]);
    assert.equal(Number.parseFloat(shown).toFixed(6), time);
  }
}));

test('a recorded start is no crash, and a silence is hatched as a pause is', () => with_(recorded, {}, async (page) => {
  const texts = await drawnTexts(page);
  assert.ok(texts.includes('silent'), texts.join());
  assert.ok(!texts.includes('×'), 'both processes ended at the end of the record, if at all');
  assert.ok(await pixels(page, 'paused') > 100);
  assert.match(await page.textContent('#legend'), /silent \(paused\?\)/);
}));

test('two runs are side by side, aligned at their first difference', () => with_(both, {}, async (page) => {
  assert.match(await page.textContent('#verdict'), /The first 15 events are alike\. Event 16 is the first that differs/);
  assert.match(await page.textContent('#fields'), /0\.000161122.*0\.000184357/);
  const [a, b] = [await (await page.$('#picture-0')).boundingBox(), await (await page.$('#picture-1')).boundingBox()];
  assert.ok(Math.abs(a.y - b.y) < 2 && a.x + a.width <= b.x, 'side by side');
  const rows = await page.$$eval('#pairs tbody tr', (all) => all.map((row) => [row.firstElementChild.textContent, row.className]));
  assert.deepEqual(rows.filter(([n]) => n === '15' || n === '16'), [['15', ''], ['16', 'differs']]);
  await page.keyboard.press('j');
  assert.equal(await page.$eval('#pairs [aria-current] th', (one) => one.textContent), '17');
  await page.click('#later');
  assert.match(await page.textContent('#events-count'), /^Events 73 to 132/);
}));

test('an index has the verdicts, the times to detection, and links to pages', () => with_(index, {}, async (page) => {
  assert.equal(await page.textContent('#verdict'), 'No promise was broken: 4 runs, 4 as expected; in 2 something was ' +
    'violated that is not promised there.');
  const rows = await page.$$eval('#matrix tr', (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const cell = (invariant, protocol) => rows.find((row) => row[0] === invariant)[rows[0].indexOf(protocol)];
  assert.equal(cell('token_monotonic', 'spindle_v2'), '1 of 2');
  assert.equal(cell('token_monotonic', 'fenced_lease'), '0 of 1');
  assert.equal(cell('token_monotonic', 'lease_lock'), 'n/a', 'a protocol without tokens');
  assert.ok(await page.$$eval('#times circle', (all) => all.length) >= 3);
  await page.selectOption('#filter-protocol', { label: 'fenced_lease' });
  assert.deepEqual(await page.$$eval('#runs tbody th', (all) => all.map((one) => one.textContent)), ['fenced_leader_partitioned']);
  assert.equal(await page.getAttribute('#runs tbody a', 'href'), 'pages/fenced_leader_partitioned.html');
}));

test('the pages that an index links are there', async () => {
  const { page, context } = await open(browser, index);
  await page.click('#runs a >> text=gc_pause_stale_token');
  await page.waitForSelector('html[data-ready=true] #story');
  assert.match(await page.title(), /gc_pause_stale_token/);
  await context.close();
});

// Each curve has its name to the right of its end, and no name hides another.
async function namesAtEnds(page, many) {
  const names = await page.$$eval('#plots svg', (plots) => plots.flatMap((plot) => {
    const ends = [...plot.querySelectorAll('path.curve')].map((path) => path.getPointAtLength(path.getTotalLength()).x);
    return [...plot.querySelectorAll('text.name')].map((text) => ({
      plot: plots.indexOf(plot), y: Number(text.getAttribute('y')), right: text.getBBox().x + text.getBBox().width,
      isRight: ends.every((end) => text.getBBox().x > end), width: plot.clientWidth,
    }));
  }));
  assert.equal(names.length, many);
  assert.ok(names.every((name) => name.isRight && name.right <= name.width), JSON.stringify(names));
  for (const one of names) {
    for (const other of names) {
      if (one !== other && one.plot === other.plot) assert.ok(Math.abs(one.y - other.y) >= 14, JSON.stringify(names));
    }
  }
}

test('a page of takeovers has a curve and T* for each protocol', () => with_(takeovers, {}, async (page) => {
  assert.equal(await page.$$eval('#plots path.curve', (all) => all.length), 5);
  assert.equal(await page.$$eval('#plots path.least', (all) => all.length), 5);
  assert.equal(await page.$$eval('#table tbody tr', (all) => all.length), 5);
  assert.match(await page.textContent('#about'), /T\*, the shortest/);
  await namesAtEnds(page, 5);
}));

test('a page of costs has a curve and T* for each protocol, by p50 and p99', () => with_(costs, {}, async (page) => {
  assert.equal(await page.$$eval('#plots path.curve', (all) => all.length), 4);
  assert.equal(await page.$$eval('#plots path.least', (all) => all.length), 4);
  assert.equal(await page.$$eval('#table tbody tr', (all) => all.length), 4);
  assert.match(await page.textContent('#about'), /T\*, the shortest time/);
  await namesAtEnds(page, 4);
  const rows = await page.$$eval('#table tbody tr', (all) => all.map((row) => [...row.children].map((cell) => Number(cell.textContent))));
  for (const row of rows) assert.ok(row.at(-2) > 0 && row.at(-2) <= row.at(-4) && row.at(-1) <= row.at(-3), row.join());
}));

for (const [name, file] of [['a run', paused], ['a hundred pods', hundred], ['a recorded history', recorded], ['two runs', both], ['a failing run and the nearest', nearest], ['an index', index], ['takeovers', takeovers], ['costs', costs]]) {
  test(`the page of ${name} fits a phone, and axe-core finds nothing serious`, async () => {
    const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
    for (const look of [{ width: 390, height: 844 }, { dark: true }]) {
      const { page, context } = await open(browser, file, look);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= (look.width ?? 1280));
      const tooWide = await page.$$eval('table', (all) => all.filter((table) =>
        table.scrollWidth > table.clientWidth + 1 || table.getBoundingClientRect().right > innerWidth).map((table) => table.outerHTML.slice(0, 80)));
      assert.deepEqual(tooWide, [], 'tables that are wider than the page');
      const display = await page.$$eval('table.cards tbody tr', (all) => [...new Set(all.map((row) => getComputedStyle(row).display))]);
      assert.ok(display.every((one) => (one === 'table-row') === (look.width !== 390)), display.join());
      const found = await page.evaluate(`(async () => { ${axe}; return (await axe.run()).violations
        .filter((one) => one.impact === 'serious' || one.impact === 'critical')
        .map((one) => one.id + ': ' + one.nodes[0].html); })()`);
      assert.deepEqual(found, []);
      await context.close();
    }
  });
}

test('pages look as the stored pictures do', async () => {
  const { skipped, differing } = await comparePictures(whorl, browser);
  if (skipped !== '') console.log(`SKIPPED: stored pictures are not compared: ${skipped}`);
  assert.deepEqual(differing, []);
});

test('a story of ordinary length is small', () => {
  assert.ok(statSync(partitioned).size < 300_000, `${statSync(partitioned).size} bytes`);
});

if (process.argv.includes('--large')) {
  test('1,000,000 events: size, first paint, and frames of a pan', async () => {
    const scenario = join(folder, 'large.json');
    const nodes = Array.from({ length: 8 }, (_, i) => `n${i}`);
    writeFileSync(scenario, JSON.stringify({
      version: 1, about: 'Many events.', protocol: 'spindle_v2', lease: '5s', nodes, duration: '8000s', seed: 1,
      workload: { write_every: '500ms' },
      faults: [{ at: '1000s', do: 'pause', node: 'n0', for: '9s', every: '500s', times: 12 },
        { at: '1200s', do: 'crash', node: 'leader', restart_after: '3s', every: '300s', times: 15 }],
    }));
    const file = pageOf(scenario);
    const { page, context } = await open(browser, file);
    const figures = await page.evaluate(async () => {
      const paint = performance.getEntriesByName('first-contentful-paint')[0].startTime;
      const ready = performance.getEntriesByName('whorl-drawn')[0].startTime;
      document.getElementById('picture').focus();
      const times = [];
      for (let i = 0; i < 120; ++i) {
        const zoom = i < 3 ? '+' : i % 40 < 20 ? 'ArrowRight' : 'ArrowLeft';
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: zoom, bubbles: true }));
        times.push(await new Promise((done) => requestAnimationFrame(done)));
      }
      const frames = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
      return { events: document.getElementById('events-count').textContent, paint, ready,
        median: frames[Math.floor(frames.length / 2)], p95: frames[Math.floor(frames.length * 0.95)] };
    });
    console.log(`  ${figures.events} ${(statSync(file).size / 1e6).toFixed(1)} MB, first paint ` +
      `${figures.paint.toFixed(0)} ms, picture ${figures.ready.toFixed(0)} ms, frame of a pan ` +
      `${figures.median.toFixed(1)} ms (median), ${figures.p95.toFixed(1)} ms (95 %)`);
    assert.ok(Number(/of (\d+)/.exec(figures.events)[1]) >= 1_000_000, 'a million events');
    assert.ok(statSync(file).size <= 25e6);
    assert.ok(figures.paint < 2000);
    assert.ok(figures.median < 17);
    await context.close();
  });
}

let failed = 0;
for (const [claim, body] of tests) {
  try {
    await body();
    console.log(`ok      ${claim}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${claim}\n${error.stack}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true });
console.log(`${tests.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
