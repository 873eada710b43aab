// Two runs side by side, aligned at the first difference of their traces.
import { Data, checked, readBytes } from './data.js';
import type { Head } from './data.js';
import { begin, element, fillTable, headText, make } from './dom.js';
import { Picture } from './picture.js';
import { listenToPointer } from './pointer.js';
import { Run, seconds } from './run.js';

interface FieldDifference { field: string; a: unknown; b: unknown }
interface Compared {
  names: [string, string];
  told?: string[];  // of a failing run and the nearest one that passes: what they are, in lines
  heads: [Head, Head];
  bytes: number;  // of the first run's tables; the second's follow
  difference: {
    equal: boolean; equal_events: number; hash_from: number | null; header: FieldDifference[];
    first: { n: number; a: unknown; b: unknown; fields: FieldDifference[] } | null;
  };
}
interface Side { run: Run; picture: Picture; canvas: HTMLCanvasElement }

const PAGE = 60;  // events of the list

class Comparison {
  private readonly sides: [Side, Side];
  private readonly first: number;  // the first event that differs, or 0
  private listed = 1;
  private chosen = 0;

  constructor(private readonly compared: Compared, bytes: Uint8Array) {
    const [a, b] = compared.heads;
    a.result.simulated = b.result.simulated = Math.max(a.result.simulated, b.result.simulated);
    this.first = compared.difference.first?.n ?? 0;
    const runs = [new Run(checked(a), new Data(a, bytes.subarray(0, compared.bytes))),
      new Run(checked(b), new Data(b, bytes.subarray(compared.bytes)))];
    // What one of them violates has a row in both, so that their lanes are level.
    const violated = runs.flatMap((run) => run.violations.map((violation) => violation.invariant));
    const side = (place: number): Side => {
      const canvas = element<HTMLCanvasElement>(`picture-${place}`);
      return { run: runs[place]!, canvas, picture: new Picture(canvas, runs[place]!, violated) };
    };
    this.sides = [side(0), side(1)];
    this.showHead();
    this.showFields();
    this.sides.forEach((one, place) => this.listen(one, place));
    this.listenToButtons();
    if (this.first > 0) this.choose(this.first); else this.list(1);
  }

  private showHead(): void {
    const { names, heads, difference } = this.compared;
    const title = heads[0].scenario.name === heads[1].scenario.name ? heads[0].scenario.name
      : `${heads[0].scenario.name} and ${heads[1].scenario.name}`;
    document.title = `${title}: two runs, whorl`;
    element('name').textContent = `Two runs of ${title}`;
    heads.forEach((head, i) => {
      element(`title-${i}`).textContent = `${i === 0 ? 'A' : 'B'}: ${names[i]} (${head.scenario.protocol}, seed ${head.result.seed})`;
    });
    const verdict = element('verdict');
    verdict.className = difference.equal ? 'good' : 'bad';
    const { first } = difference;
    if (first !== null) {
      const at = this.sides.map(({ run }) => first.n <= run.count ? `${seconds(run.timeOf(first.n))} s` : 'not at all');
      verdict.textContent = `The first ${difference.equal_events} events are alike. Event ${first.n} is the first that differs: ` +
        `in A ${at[0]}, in B ${at[1]}.`;
    } else {
      verdict.textContent = `All ${difference.equal_events} events are alike` + (difference.hash_from === null ? '.'
        : `, but the hash differs from event ${difference.hash_from} on: the seeds differ, or something that was not observed does.`);
    }
    const differing = difference.header.map((field) => field.field).join(', ');
    element('about').textContent = differing === '' ? '' : `The traces' heads differ in: ${differing}.`;
    const { told } = this.compared;
    if (told === undefined) return;
    element('about').className = 'told';
    element('about').replaceChildren(...told.flatMap((line) => [`${line}.`, make('br', '', '')]));
  }

  private showFields(): void {
    const { first } = this.compared.difference;
    element('fields-section').hidden = first === null;
    if (first === null) return;
    const rows = first.fields.length > 0 ? first.fields : [{ field: 'event', a: first.a, b: first.b }];
    const text = (value: unknown): string =>
      value === null ? (first.a === null || first.b === null ? '(the trace ends here)' : '(none)') : typeof value === 'string' ? value : JSON.stringify(value);
    fillTable(element('fields'), ['field', 'A', 'B'], rows.map((row) => [row.field, text(row.a), text(row.b)]));
  }

  // --- the pictures --------------------------------------------------------------------------------

  private listen({ canvas, picture, run }: Side, place: number): void {
    listenToPointer(canvas, element(`tip-${place}`), picture, {
      passes: () => true, choose: (event) => this.choose(event),
      moved: () => this.follow(place), settled: () => {},
    });
    picture.resize();
    new ResizeObserver(() => picture.resize()).observe(canvas.parentElement!);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => picture.recolour());
    canvas.setAttribute('aria-label', `${element(`title-${place}`).textContent ?? ''}: ${run.count} events`);
  }
  // The other picture shows the same time.
  private follow(place: number): void {
    const { from, to } = this.sides[place]!.picture;
    this.sides[1 - place]!.picture.show(from, to);
  }
  private zoom(factor: number): void {
    const { picture } = this.sides[0];
    picture.zoom(factor, this.chosen > 0 ? this.timeOf(this.chosen) : (picture.from + picture.to) / 2);
    this.follow(0);
  }
  private timeOf(event: number): number {
    const side = this.sides.find(({ run }) => event <= run.count) ?? this.sides[0];
    return side.run.timeOf(Math.min(event, side.run.count));
  }

  private choose(event: number): void {
    this.chosen = event;
    for (const { picture, run } of this.sides) {
      picture.selected = event <= run.count ? event : 0;
      if (event <= run.count) picture.reveal(run.timeOf(event)); else picture.draw();
    }
    this.list(Math.max(1, event - 4));
  }

  private listenToButtons(): void {
    const whole = (): void => { this.sides[0].picture.show(0, this.sides[0].run.end); this.follow(0); };
    const around = (): void => {
      const at = this.timeOf(Math.max(1, this.first)), half = this.sides[0].run.end / 50;
      this.sides[0].picture.show(at - half, at + half);
      this.follow(0);
    };
    element('zoom-in').addEventListener('click', () => this.zoom(0.5));
    element('zoom-out').addEventListener('click', () => this.zoom(2));
    element('zoom-all').addEventListener('click', whole);
    element('zoom-difference').addEventListener('click', around);
    element<HTMLButtonElement>('zoom-difference').disabled = this.first === 0;
    element('earlier').addEventListener('click', () => this.list(this.listed - PAGE));
    element('later').addEventListener('click', () => this.list(this.listed + PAGE));
    const keys: Record<string, () => void> = {
      j: () => this.choose(Math.min(this.chosen + 1, Math.max(...this.sides.map(({ run }) => run.count)))),
      k: () => this.choose(Math.max(1, this.chosen - 1)),
      '+': () => this.zoom(0.5), '-': () => this.zoom(2), '0': whole,
    };
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const act = keys[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    });
  }

  // --- the events ----------------------------------------------------------------------------------

  private list(from: number): void {
    const most = Math.max(...this.sides.map(({ run }) => run.count));
    this.listed = Math.max(1, Math.min(from, most));
    const to = Math.min(most, this.listed + PAGE - 1);
    const events = Array.from({ length: to - this.listed + 1 }, (_, i) => this.listed + i);
    const texts = events.map((event) => this.sides.map(({ run }) => event > run.count ? ['', '(this run has ended)']
      : [seconds(run.timeOf(event)), run.text(event)]));
    fillTable(element('pairs'), ['event', 'A: s', 'A', 'B: s', 'B'],
      events.map((event, i) => [String(event), ...texts[i]!.flat()]), new Set([1, 3]));
    element<HTMLTableElement>('pairs').querySelectorAll('tbody tr').forEach((row, i) => {
      const event = events[i]!;
      if (texts[i]![0]!.join() !== texts[i]![1]!.join() || event === this.first) row.className = 'differs';
      if (event === this.chosen) row.setAttribute('aria-current', 'true');
    });
    element('events-count').textContent = `Events ${this.listed} to ${to} of ${most}.`;
  }
}

begin(async () => {
  const compared = JSON.parse(headText()) as Compared;
  const data = element('data');
  const bytes = await readBytes((data.textContent ?? '').trim());
  data.remove();
  new Comparison(compared, bytes);
});
