// Wires the page of a run: the head, the picture, the list of events, the details of one, keys and
// links. Whatever comes from the run becomes text (textContent), never markup.
import { Data, readBytes, readHead } from './data.js';
import type { Head } from './data.js';
import { begin, count, element, headText, make } from './dom.js';
import { Picture, SMALL } from './picture.js';
import { listenToPointer } from './pointer.js';
import { lowerBound, Run, seconds } from './run.js';

const LEGEND: [string, string][] = [['up', 'up'], ['believes', 'believes that it leads'], ['works', 'at work'],
  ['paused', 'paused'], ['cut', 'cut off from Spanner'], ['fault', 'fault'], ['call', 'calls'], ['failed-call', 'call that was lost'],
  ['lease', 'holder in the row'], ['holder', 'lease'], ['ink', 'commit, with TrueTime\'s interval'], ['accepted', 'write accepted'], ['refused', 'write refused'],
  ['bad', 'violation']];

function metric(head: Head, name: string): number {
  const values = head.result.metrics;
  return typeof values[name] === 'number' ? values[name] : 0;
}

function showHead(head: Head): void {
  const { scenario, result } = head;
  document.title = `${scenario.name}: whorl`;
  element('name').textContent = `${scenario.name} (${scenario.protocol}, ` +
    (head.recorded === true ? 'recorded by others)' : head.on === '' ? `seed ${result.seed})` : `real processes on ${head.on})`);
  element('about').textContent = scenario.about;
  const verdict = element('verdict');
  const violated = result.invariants.filter((one) => one.verdict === 'violated')
    .sort((a, b) => (a.event ?? 0) - (b.event ?? 0));
  const say = (text: string, className = ''): void => { verdict.append(make('span', className, text)); };
  verdict.className = violated.length > 0 || result.failures.length > 0 ? 'bad' : 'good';
  const unknown = result.invariants.filter((one) => one.verdict === 'unknown');
  if (violated.length === 0) {
    say('No invariant was violated' + (unknown.length === 0 ? '.'
      : `, as far as can be told: of ${unknown.map((one) => one.name).join(', ')} it is unknown.`));
  }
  for (const one of violated) {
    const known = [one.promise, one.expected ? 'the scenario expects it' : ''].filter(Boolean).join('; ');
    verdict.append(make('span', '', `${one.name} violated at ${seconds(one.at ?? 0)} s: ${one.text ?? ''}`,
      make('small', '', known === '' ? '' : ` (${known})`)));
  }
  for (const one of result.invariants.filter((other) => other.verdict === 'possible')) {
    say(`${one.name} possibly violated at ${seconds(one.at ?? 0)} s: ${one.text ?? ''}`);
  }
  for (const failure of result.failures) say(`Not as expected: ${failure}`);
  for (const line of result.records ?? []) verdict.append(make('small', '', `Records ${line}. `));
  element('origin').textContent = `whorl ${head.whorl}. To ${head.recorded === true ? 'judge this history' : 'make this run'} again: ${head.command}`;
  const body = element<HTMLTableElement>('invariants').tBodies[0]!;
  for (const one of result.invariants) {
    const first = one.event === undefined ? (one.unknown_because ?? '')
      : `${seconds(one.at ?? 0)} s: ${one.text ?? ''}` + (one.violations > 1 ? ` (${one.violations} in all)` : '') +
        (one.findings ? `; it may be ${one.findings}` : '');
    const cell = make('td', '', first);
    if (one.event !== undefined) {
      cell.textContent = '';
      cell.append(link(one.event, first));
    }
    body.append(make('tr', '', '', make('th', '', one.name),
      make('td', one.verdict === 'violated' ? 'violated' : '', one.verdict), cell));
    body.lastElementChild!.firstElementChild!.setAttribute('scope', 'row');
  }
}

function link(event: number, ...parts: (string | Node)[]): HTMLAnchorElement {
  const anchor = document.createElement('a');
  anchor.href = `#event=${event}`;
  anchor.append(...parts);
  return anchor;
}

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
    this.showRefused(head);
    this.showDecision(head);
    this.fillFilters();
    this.showLegend();
    listenToPointer(this.canvas, element('tip'), this.picture, {
      passes: (event) => this.filters.passes(event),
      choose: (event) => this.select(event),
      moved: () => {},
      settled: () => this.writeAddress(),
    });
    this.listenToKeys();
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

  // What saved the data, if something did, and what it cost where nothing did.
  private showRefused(head: Head): void {
    const verdict = element('verdict');
    const refused = metric(head, 'stale_write_refused'), accepted = metric(head, 'stale_write_accepted');
    const event = this.run.eventsOf('stale_write_refused')[0];
    if (event !== undefined) {
      const who = this.run.nodeName(this.run.node[event - 1]!);
      verdict.append(make('span', 'saved', '', 'What saved the data: ', link(event,
        `at ${seconds(this.run.timeOf(event))} s the resource that checks tokens refused a stale write of ${who}`),
      refused > 1 ? ` (${refused} in all).` : '.'));
    }
    if (accepted > 0) {
      verdict.append(make('span', 'lost', `What nothing saved: the resource that does not check tokens accepted ${count(accepted, 'stale write', 'stale writes')}.`));
    }
    verdict.append(make('span', 'also', `${count(metric(head, 'grants'), 'grant', 'grants')}, ` +
      `${count(metric(head, 'takeovers'), 'takeover', 'takeovers')}.` +
      (head.result.judged && head.result.failures.length === 0 ? ' The run ended as its scenario expects.' : '')));
  }

  // When the violation was decided, with the jumps of the curve as links.
  private showDecision(head: Head): void {
    const { decision } = head;
    if (decision === undefined) return;
    const line = make('span', 'also', `${decision.text.charAt(0).toUpperCase()}${decision.text.slice(1)}.`);
    const share = (moment: number): number => {
      const { continuations, violated } = decision.moments[moment]!;
      return continuations === 0 ? 1 : violated / continuations;
    };
    for (const jump of decision.jumps) {
      if (Math.abs(share(jump.moment) - share(jump.moment - 1)) * 100 < SMALL) continue;
      const percent = (at: number): string => `${Math.round(100 * share(at))} %`;
      line.append(' ', link(jump.event, `At ${seconds(decision.moments[jump.moment]!.at)} s from ` +
        `${percent(jump.moment - 1)} to ${percent(jump.moment)}: ${jump.text}`), '.');
    }
    element('verdict').append(line);
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
    element('help-button').addEventListener('click', () => this.help());
    if (this.run.violations.length === 0) element<HTMLButtonElement>('next-violation').disabled = true;
  }

  private filtersChanged(): void {
    this.picture.resize();
    void this.list(Math.max(1, this.picture.selected), 1);
  }

  private showLegend(): void {
    for (const [colour, text] of LEGEND) {
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
    if (next !== undefined) this.select(next);
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
  showHead(head);
  const data = element('data');
  const bytes = await readBytes((data.textContent ?? '').trim());
  data.remove();
  new Page(head, bytes);
});
