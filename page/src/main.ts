// Wires the page of a run: the head, the picture, the list of events, the details of one, keys and
// links. Whatever comes from the run becomes text (textContent), never markup.
import { Data, readBytes, readHead } from './data.js';
import type { Head, Invariant } from './data.js';
import { begin, count, element, fillTable, headText, make } from './dom.js';
import { Picture, SMALL } from './picture.js';
import { listenToPointer } from './pointer.js';
import { lowerBound, Run, seconds, Words } from './run.js';

const LEGEND: [string, string][] = [['up', 'up'], ['believes', 'believes that it leads'], ['works', 'at work'],
  ['paused', 'paused'], ['cut', 'cut off from Spanner'], ['fault', 'fault'], ['call', 'calls'], ['failed-call', 'call that was lost'],
  ['lease', 'holder in the row'], ['holder', 'lease'], ['ink', 'commit, with TrueTime\'s interval'], ['accepted', 'write accepted'], ['refused', 'write refused'],
  ['warning', 'stale write accepted'], ['bad', 'violation']];

function metric(head: Head, name: string): number {
  const values = head.result.metrics;
  return typeof values[name] === 'number' ? values[name] : 0;
}

// The texts of a run name times as the picture does: in seconds since the start.
function inSeconds(head: Head): void {
  const words = new Words(head.scenario.start);
  if (head.headline !== undefined) head.headline.text = words.within(head.headline.text);
  for (const one of head.result.invariants) if (one.text !== undefined) one.text = words.within(one.text);
  head.story.head = words.within(head.story.head);
}

function showHead(head: Head): void {
  const { scenario, result } = head;
  document.title = `${scenario.name}: whorl`;
  element('name').append(scenario.name, ' ', make('small', '', `(${scenario.protocol}, ` +
    (head.recorded === true ? 'recorded by others)' : head.on === '' ? `seed ${result.seed})` : `real processes on ${head.on})`)));
  element('about').textContent = scenario.about;
  const headline = head.headline ?? { text: 'This run was not judged.', tone: 'plain', event: 0 };
  // Green is for a run in which all is well.
  element('verdict').className = headline.tone === 'good' && result.failures.length > 0 ? 'plain' : headline.tone;
  element('verdict').append(headline.event > 0 ? link(headline.event, headline.text) : headline.text);
  // The table says of each violation whether it was expected, so none is named twice.
  const inTable = (failure: string): boolean => result.invariants.some((one) => one.event !== undefined && failure.startsWith(`${one.name} was violated`));
  element('failures').append(...result.failures.filter((failure) => !inTable(failure)).map((failure) => make('li', '', `Not as expected: ${failure}.`)));
  showBroken(head);
  showInvariants(head);
  element('origin').textContent = `whorl ${head.whorl}. To ${head.recorded === true ? 'judge this history' : 'make this run'} again: ${head.command}`;
}

// Whether the scenario expects the violation.
function expectedCell(head: Head, one: Invariant): HTMLElement {
  if (!head.result.judged) return make('td', '', 'not said');
  return one.expects === 'violated' ? make('td', '', 'yes') : make('td', 'violated', 'no');
}
function firstOf(one: Invariant, rest = ''): HTMLElement {
  const text = one.event === undefined ? one.unknown_because ?? ''
    : `${seconds(one.at ?? 0)} s: ${one.text ?? ''}` + (one.violations > 1 ? ` (${one.violations} in all)` : '') + rest;
  return make('td', '', '', one.event === undefined ? text : link(one.event, text));
}
// What was violated, or perhaps was, in the order of time.
function showBroken(head: Head): void {
  const broken = head.result.invariants.filter((one) => one.verdict === 'violated' || one.verdict === 'possible')
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
  element('broken').hidden = broken.length === 0;
  const expects = head.recorded !== true;
  fillTable(element('broken'), [head.recorded === true ? 'violated' : 'violated invariant', 'promised', ...(expects ? ['expected'] : []), 'first violation'],
    broken.map((one) => [make('span', 'violated', one.verdict === 'possible' ? `perhaps ${one.name}` : one.name),
      one.promise || one.promised || 'not promised', ...(expects ? [expectedCell(head, one)] : []), firstOf(one)]));
}
function showInvariants(head: Head): void {
  const expects = head.recorded !== true && head.result.judged;
  fillTable(element('invariants'), ['invariant', 'verdict', 'promised', ...(expects ? ['expected to'] : []), 'first violation'],
    head.result.invariants.map((one) => [one.name, make('td', one.verdict === 'violated' ? 'violated' : '', one.verdict),
      one.promise || one.promised, ...(expects ? [{ holds: 'hold', violated: 'be violated' }[one.expects] ?? ''] : []),
      firstOf(one, one.findings ? `; it may be ${one.findings}` : '')]));
}

function link(event: number, ...parts: (string | Node)[]): HTMLAnchorElement {
  const anchor = document.createElement('a');
  anchor.href = `#event=${event}`;
  anchor.append(...parts);
  return anchor;
}

// Metrics that count writes: one, and many.
const WRITES: [string, [string, string]][] = [
  ['stale_write_refused', ['stale write refused', 'stale writes refused']],
  ['stale_write_accepted', ['stale write accepted', 'stale writes accepted']],
  ['legitimate_write_refused', ['write of the holder refused', 'writes of the holder refused']]];

// Filters, as one question to an event.
class Filters {
  node = -1; lock = -1; step = -1; changesOnly = false; query = '';
  constructor(private readonly run: Run) {}
  passes(event: number): boolean {
    const { run } = this, i = event - 1;
    if (this.node >= 0 && run.node[i] !== this.node) return false;
    if (this.lock >= 0 && run.lock[i] !== this.lock) return false;
    if (this.step >= 0 && run.step[i] !== this.step) return false;
    if (this.changesOnly && !run.lines.has(event) && !run.violating.has(event)) return false;
    return this.query === '' || run.text(event).toLowerCase().includes(this.query);
  }
}

class Page {
  private readonly run: Run;
  private readonly picture: Picture;
  private readonly filters: Filters;
  private listed: number[] = [];
  private search = 0;  // of the newest search for events; an older one gives up
  private readonly canvas = element<HTMLCanvasElement>('picture');

  constructor(head: Head, bytes: Uint8Array) {
    this.run = new Run(head, new Data(head, bytes));
    this.filters = new Filters(this.run);
    this.picture = new Picture(this.canvas, this.run);
    this.showStory(head);
    this.showAlso(head);
    this.fillFilters();
    this.showLegend();
    listenToPointer(this.canvas, element('tip'), this.picture, {
      passes: (event) => this.filters.passes(event),
      choose: (event) => this.select(event),
      moved: () => {},
      settled: () => this.writeAddress(),
      fold: () => this.fold(),
    });
    this.listenToKeys();
    this.showFold();
    this.readAddress();
    this.picture.resize();
    new ResizeObserver(() => this.picture.resize()).observe(element('frame'));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.picture.recolour());
    window.addEventListener('hashchange', () => this.readAddress());
  }

  private showStory(head: Head): void {
    const list = element('story');
    const add = (event: number, at: number, who: string, text: string, tone: string): void => {
      list.append(make('li', `tone-${tone}`, '', link(event, make('span', 'at', seconds(at)),
        make('span', 'who', who), make('span', 'text', text))));
    };
    if (head.story.invariant !== '') {
      element('story-head').textContent = head.story.head;
      const mark = `<- ${head.story.invariant}`;
      for (const line of head.story.lines) {
        const isIt = line.text.includes(mark);
        const event = isIt ? head.result.invariants.find((one) => one.name === head.story.invariant)?.event : undefined;
        add(event ?? this.run.eventAt(line.at, line.who), line.at, line.who, line.text, isIt ? 'bad' : 'plain');
      }
      element('story-end').textContent = `Then ${head.story.end}.` +
        (head.story.left_out > 0 ? ` (${count(head.story.left_out, 'event', 'events')} of less weight left out.)` : '');
      return;
    }
    const most = 60;
    for (const line of head.timeline.slice(0, most)) {
      add(line.event, line.at, line.node >= 0 ? this.run.nodeName(line.node) : 'Spanner', line.text, line.tone);
    }
    const left = head.timeline.length - most + head.timeline_left_out;
    if (left > 0) element('story-end').textContent = `And ${left} more changes, which the list of events has.`;
  }

  // The smaller facts: what the run counts, when the violation was decided, what was read.
  private showAlso(head: Head): void {
    const also = element('also');
    also.append(`${count(metric(head, 'grants'), 'grant', 'grants')}, ${count(metric(head, 'takeovers'), 'takeover', 'takeovers')}.` +
      (head.result.judged && head.result.failures.length === 0 ? ' The run ended as its scenario expects.' : ''));
    for (const [name, what] of WRITES) {
      const events = this.run.eventsOf(name);
      if (events.length > 0) also.append(' ', link(events[0]!, count(events.length, ...what)), '.');
    }
    for (const line of head.result.records ?? []) also.append(` Records ${line}.`);
    this.showDecision(head, also);
  }

  // When the violation was decided, with the jumps of the curve as links.
  private showDecision(head: Head, also: HTMLElement): void {
    const { decision } = head;
    if (decision === undefined) return;
    also.append(make('br', '', ''), `${decision.text.charAt(0).toUpperCase()}${decision.text.slice(1)}.`);
    const share = (moment: number): number => {
      const { continuations, violated } = decision.moments[moment]!;
      return continuations === 0 ? 1 : violated / continuations;
    };
    for (const jump of decision.jumps) {
      if (Math.abs(share(jump.moment) - share(jump.moment - 1)) * 100 < SMALL) continue;
      const percent = (at: number): string => `${Math.round(100 * share(at))} %`;
      also.append(' ', link(jump.event, `At ${seconds(decision.moments[jump.moment]!.at)} s from ` +
        `${percent(jump.moment - 1)} to ${percent(jump.moment)}: ${jump.text}`), '.');
    }
  }

  private fillFilters(): void {
    const fill = (id: string, names: readonly string[], set: (index: number) => void): void => {
      const select = element<HTMLSelectElement>(id);
      select.append(new Option('all', '-1'), ...names.map((name, i) => new Option(name, String(i))));
      select.addEventListener('change', () => { set(Number(select.value)); this.filtersChanged(); });
    };
    const { nodes, locks } = this.run.head.scenario;
    fill('filter-node', nodes.map((node) => node.name), (i) => { this.filters.node = this.picture.node = i; });
    fill('filter-lock', locks, (i) => { this.filters.lock = this.picture.lock = i; });
    fill('filter-step', this.run.steps, (i) => { this.filters.step = this.picture.step = i; });
    const search = element<HTMLInputElement>('search');
    search.addEventListener('input', () => { this.filters.query = search.value.trim().toLowerCase(); this.filtersChanged(); });
    const changes = element<HTMLInputElement>('changes-only');
    changes.addEventListener('change', () => { this.filters.changesOnly = changes.checked; this.filtersChanged(); });
    element('filters').addEventListener('submit', (event) => event.preventDefault());
    element('earlier').addEventListener('click', () => void this.list((this.listed[0] ?? 1) - 1, -1));
    element('later').addEventListener('click', () => void this.list((this.listed.at(-1) ?? 0) + 1, 1));
    element('zoom-in').addEventListener('click', () => this.zoom(0.5));
    element('zoom-out').addEventListener('click', () => this.zoom(2));
    element('zoom-all').addEventListener('click', () => this.picture.show(0, this.run.end));
    element('next-violation').addEventListener('click', () => this.toViolation(1));
    element('fold').addEventListener('click', () => this.fold());
    element('help-button').addEventListener('click', () => this.help());
    if (this.run.violations.length === 0) element<HTMLButtonElement>('next-violation').disabled = true;
  }

  // Shows the processes that never led, or folds them into one band.
  private fold(): void {
    this.picture.folded = !this.picture.folded;
    this.picture.resize();
    this.showFold();
    this.canvas.setAttribute('aria-label', this.picture.summary());
  }
  private showFold(): void {
    const button = element<HTMLButtonElement>('fold');
    button.hidden = !this.picture.canFold;
    button.textContent = this.picture.folded ? 'Show all processes' : 'Only those that led';
    button.setAttribute('aria-expanded', String(!this.picture.folded));
  }

  private filtersChanged(): void {
    this.picture.resize();
    this.showFold();
    void this.list(Math.max(1, this.picture.selected), 1);
  }

  private showLegend(): void {
    const shown = this.picture.colourNames();
    const inferred = this.run.head.recorded === true;
    for (const [colour, plain] of LEGEND) {
      if (!shown.has(colour)) continue;
      const text = inferred && colour === 'paused' ? 'silent (paused?)' : inferred && colour === 'fault' ? `${plain} (inferred)` : plain;
      const swatch = make('i', '', '');
      swatch.style.background = `var(--${colour})`;
      element('legend').append(make('li', '', '', swatch, document.createTextNode(text)));
    }
  }

  private help(): void { element<HTMLDialogElement>('help').showModal(); }

  private zoom(factor: number): void {
    const at = this.picture.selected === 0 ? NaN : this.run.timeOf(this.picture.selected);
    const inView = at >= this.picture.from && at <= this.picture.to;
    this.picture.zoom(factor, inView ? at : (this.picture.from + this.picture.to) / 2);
    this.writeAddress();
  }

  // --- events --------------------------------------------------------------------------------------

  // The next events from `from` that pass; goes on in pieces, so that the page stays alive.
  private async find(from: number, way: 1 | -1, most: number): Promise<number[] | null> {
    const search = ++this.search;
    const found: number[] = [];
    const piece = 50_000;
    for (let event = from, seen = 1; event >= 1 && event <= this.run.count && found.length < most; event += way, ++seen) {
      if (this.filters.passes(event)) found.push(event);
      if (seen % piece !== 0) continue;
      await new Promise((resolve) => setTimeout(resolve));
      if (search !== this.search) return null;
    }
    return found;
  }

  private async list(from: number, way: 1 | -1): Promise<void> {
    const most = 200;
    let found = await this.find(from, way, most);
    // Of what a filter leaves, all may lie before the chosen event.
    if (found?.length === 0 && way === 1 && from > 1 && from <= this.run.count) found = await this.find(1, 1, most);
    if (found === null) return;
    if (found.length === 0 && this.listed.length > 0 && (from < 1 || from > this.run.count)) return;
    this.listed = way === 1 ? found : found.reverse();
    const items = this.listed.map((event) => {
      const tone = this.run.violating.has(event) ? 'bad' : this.run.lines.get(event)?.[0]?.tone ?? 'plain';
      const button = make('button', '', '', make('span', 'at', seconds(this.run.timeOf(event))),
        make('span', 'text', this.run.text(event)));
      button.setAttribute('type', 'button');
      button.dataset['event'] = String(event);
      if (event === this.picture.selected) button.setAttribute('aria-current', 'true');
      button.addEventListener('click', () => this.select(event));
      return make('li', `tone-${tone}`, '', button);
    });
    element('list').replaceChildren(...items);
    element('events-count').textContent = this.listed.length === 0 ? 'No event passes the filters.'
      : `Events ${this.listed[0]} to ${this.listed.at(-1)} of ${this.run.count}, ${this.listed.length} shown.`;
  }

  private async step(way: 1 | -1): Promise<void> {
    const start = this.picture.selected === 0 ? this.inView() : this.picture.selected + way;
    const found = await this.find(start, way, 1);
    if (found !== null && found[0] !== undefined) this.select(found[0]);
  }
  private inView(): number { return Math.min(this.run.count, lowerBound(this.run.at, this.picture.from) + 1); }

  private toViolation(way: 1 | -1): void {
    const events = this.run.violations.map((violation) => violation.event);
    const here = this.picture.selected;
    const next = way === 1 ? events.find((event) => event > here) ?? events[0]
      : events.filter((event) => event < here).at(-1) ?? events.at(-1);
    if (next === undefined) return;
    this.select(next);
    this.bringIntoView();
  }

  // The picture, and what is told of the chosen event: beside it, or below it where there is no room.
  private bringIntoView(): void {
    element('frame').scrollIntoView({ block: 'start' });
    const top = element('event-section').getBoundingClientRect().top, wanted = 200;
    if (top > innerHeight - wanted) scrollBy(0, top - innerHeight + wanted);
    element('event-section').scrollTop = 0;
  }

  select(event: number, writes = true): void {
    this.picture.selected = event;
    this.picture.reveal(this.run.timeOf(event));
    this.canvas.setAttribute('aria-label', this.picture.summary());
    this.showDetail(event);
    if (this.listed.includes(event)) {
      for (const button of element('list').querySelectorAll('button')) {
        const current = button.dataset['event'] === String(event);
        if (current) button.setAttribute('aria-current', 'true'); else button.removeAttribute('aria-current');
        if (current) this.reveal(button);
      }
    } else {
      void this.list(event, 1);
    }
    if (writes) this.writeAddress();
  }

  // Within the list alone: the page itself stays where it is.
  private reveal(button: HTMLElement): void {
    const list = element('list');
    const top = button.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + button.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = top - list.clientHeight / 3;
    }
  }

  private showDetail(event: number): void {
    const { run } = this;
    const detail = element('detail');
    const table = (rows: [string, string][]): HTMLElement => make('table', '', '', make('tbody', '', '',
      ...rows.map(([name, text]) => {
        const head = make('th', '', name);
        head.setAttribute('scope', 'row');
        return make('tr', '', '', head, make('td', '', text));
      })));
    const fields = run.fields(event);
    const plain = fields.filter(([name]) => !/^(before|after)(\.|$)/.test(name));
    const children: Node[] = [
      make('p', run.violating.has(event) ? 'violated' : '', run.text(event)),
      table([['event', `${event} of ${run.count}, ${run.kindOf(event).replaceAll('_', ' ')}`],
        [run.head.recorded === true ? 'likely time' : 'true time', `${(run.timeOf(event) / 1e9).toFixed(9)} s`], ...plain]),
    ];
    children.push(...this.rowDetail(event));
    const node = run.node[event - 1]!, lock = run.lock[event - 1]!;
    const known = node < 0 ? 0 : run.lastBefore(event, 'standing_changed', (other) =>
      run.node[other - 1] === node && (lock < 0 || run.lock[other - 1] === lock));
    if (known > 0) {
      children.push(make('h3', '', `What ${run.nodeName(node)} knew then`),
        table(run.fields(known).filter(([name]) => name.startsWith('standing.'))
          .map(([name, text]) => [name.slice('standing.'.length).replaceAll('_', ' '), text])));
    }
    detail.replaceChildren(...children);
  }

  // The row before and after the event; of an event that changes none, as it stands.
  private rowDetail(event: number): Node[] {
    const { run } = this;
    const lock = run.lock[event - 1]!;
    const commit = run.lastBefore(event, 'row_committed', (other) => lock < 0 || run.lock[other - 1] === lock);
    if (commit === 0) return [];
    const cells = new Map<string, [string, string]>();
    for (const [name, text] of run.fields(commit)) {
      const part = /^(before|after)\.(.*)$/.exec(name);
      if (part === null) continue;
      const cell = cells.get(part[2]!) ?? ['', ''];
      cell[part[1] === 'before' ? 0 : 1] = text;
      cells.set(part[2]!, cell);
    }
    const isNow = commit === event;
    const body = make('tbody', '', '');
    for (const [name, [before, after]] of cells) {
      const head = make('th', '', name);
      head.setAttribute('scope', 'row');
      const now = make('td', isNow && before !== after ? 'changed' : '', after === '' ? 'no row' : after);
      body.append(make('tr', '', '', head, ...(isNow ? [make('td', '', before === '' ? 'no row' : before)] : []), now));
    }
    const heads = (isNow ? ['column', 'before', 'after'] : ['column', 'value']).map((text) => {
      const cell = make('th', '', text);
      cell.setAttribute('scope', 'col');
      return cell;
    });
    return [make('h3', '', isNow ? 'The row before and after' : `The row then, as of ${seconds(run.timeOf(commit))} s`),
      make('table', '', '', make('thead', '', '', make('tr', '', '', ...heads)), body)];
  }

  // --- the address ---------------------------------------------------------------------------------

  private readAddress(): void {
    const parts = new URLSearchParams(location.hash.slice(1));
    const number = (name: string): number => Number(parts.get(name) ?? NaN);
    const [from, to] = [number('from'), number('to')];
    if (from >= 0 && to > from) this.picture.show(from, to);
    const event = number('event');
    if (event >= 1 && event <= this.run.count) return this.select(Math.floor(event), false);
    const first = this.run.violations[0]?.event ?? 0;
    if (first > 0) return this.select(first, false);
    this.canvas.setAttribute('aria-label', this.picture.summary());
    element('detail').replaceChildren(make('p', 'quiet', 'No event is chosen: point at the picture, or choose one in the list.'));
    void this.list(1, 1);
  }
  private writeAddress(): void {
    const { from, to, selected } = this.picture;
    const whole = from === 0 && to === this.run.end;
    const zoom = whole ? '' : `&from=${Math.floor(from)}&to=${Math.ceil(to)}`;
    history.replaceState(null, '', `#event=${selected}${zoom}`);
  }

  // --- pointer and keys ----------------------------------------------------------------------------

  private listenToKeys(): void {
    const move = (share: number): void => {
      const shift = share * (this.picture.to - this.picture.from);
      this.picture.show(this.picture.from + shift, this.picture.to + shift);
    };
    const keys: Record<string, () => void> = {
      j: () => void this.step(1), k: () => void this.step(-1),
      v: () => this.toViolation(1), V: () => this.toViolation(-1),
      '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2),
      '0': () => this.picture.show(0, this.run.end),
      f: () => { if (this.picture.canFold) this.fold(); },
      '/': () => element('search').focus(), '?': () => this.help(),
    };
    document.addEventListener('keydown', (event) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.matches('input[type=search], select') || element<HTMLDialogElement>('help').open) return;
      if (target === this.canvas && event.key === 'ArrowLeft') { event.preventDefault(); return move(-0.2); }
      if (target === this.canvas && event.key === 'ArrowRight') { event.preventDefault(); return move(0.2); }
      const act = keys[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    });
  }
}

begin(async () => {
  const head = readHead(headText());
  inSeconds(head);
  showHead(head);
  const data = element('data');
  const bytes = await readBytes((data.textContent ?? '').trim());
  data.remove();
  new Page(head, bytes);
});
