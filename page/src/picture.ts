// Draws a run on a canvas: a lane for each process, Spanner, each lock's row and each resource on one
// axis of time. What would fall into one pixel is drawn once, so that the cost of a frame depends on
// the width of the canvas and not on the length of the run.
import { Calls, Fault, lowerBound, Run, seconds, Span, Version, Writes } from './run.js';

interface Lane { kind: 'violations' | 'faults' | 'node' | 'rest' | 'spanner' | 'lock' | 'resource'; index: number; top: number; height: number; name: string }
type Colours = Record<string, string>;

const COLOURS = ['ground', 'raised', 'ink', 'quiet', 'line', 'bad', 'bad-ground', 'believes', 'works', 'up', 'paused',
  'cut', 'fault', 'fault-edge', 'lease', 'holder', 'call', 'failed-call', 'accepted', 'refused', 'warning', 'focus'];
const AXIS = 26;
const CURVE = 92;  // above the axis, if there is a curve to draw
export const SMALL = 10;  // percent points: jumps of the curve that are smaller are not named
const TALL = 58;  // a lane of a process, if there are few
const FEW = 12;   // processes; of more, those that never led are folded into one band
const FONT = '12px system-ui, sans-serif';

// Spans as times of beginning and end, for a search by time.
class Sorted {
  readonly from: Float64Array;
  readonly to: Float64Array;
  constructor(readonly spans: Span[]) {
    this.from = Float64Array.from(spans, (span) => span.from);
    // The greatest end so far: never decreases, even if spans of several locks overlap.
    this.to = new Float64Array(spans.length);
    let greatest = 0;
    spans.forEach((span, i) => { greatest = Math.max(greatest, span.to); this.to[i] = greatest; });
  }
}

export class Picture {
  from = 0;
  to: number;
  selected = 0;
  node = -1;   // of the filters; -1: all
  lock = -1;
  step = -1;
  folded = true;  // the processes that never led
  private lanes: Lane[] = [];
  private width = 300;
  private height = 100;
  private gutter = 110;
  private colours: Colours = {};
  private readonly context: CanvasRenderingContext2D;
  private readonly spans: Record<'up' | 'paused' | 'believes' | 'works' | 'cut_to' | 'cut_from', Sorted[]>;
  private readonly calls: Calls[];
  private readonly versions: Version[][];
  private readonly versionTimes: Float64Array[];
  private readonly writes: Writes[][];
  private readonly commits: Float64Array;
  private readonly faultRows: number[];
  private readonly faultNext: number[];  // when the next one of its row begins
  private readonly violatedNames: string[];  // in the order of their first violations
  private readonly axis: number;  // where it begins
  private readonly rest: number[];  // the processes that never led, if there are many
  private readonly restUp: { at: Float64Array; count: Int32Array };  // how many of them are up from a time on
  private readonly restSent: Float64Array;  // when they sent calls
  private pending = false;

  // `violated`: invariants that have a row even if the run violates none of them.
  constructor(private readonly canvas: HTMLCanvasElement, private readonly run: Run, violated: string[] = []) {
    this.context = canvas.getContext('2d')!;
    this.to = run.end;
    const sorted = (kind: Parameters<Run['spans']>[0]): Sorted[] => run.spans(kind).map((spans) => new Sorted(spans));
    this.spans = {
      up: sorted('up'), paused: sorted('paused'), believes: sorted('believes'), works: sorted('works'),
      cut_to: sorted('cut_to'), cut_from: sorted('cut_from'),
    };
    this.calls = run.calls();
    this.versions = run.versions();
    this.versionTimes = this.versions.map((versions) => Float64Array.from(versions, (version) => version.at));
    this.writes = run.writes();
    this.commits = run.commits();
    this.rest = this.thatNeverLed();
    this.restUp = this.upOfRest();
    const sent = this.rest.flatMap((node) => Array.from(this.calls[node]!.sent));
    this.restSent = Float64Array.from(sent).sort();
    this.axis = (run.head.decision?.moments.length ?? 0) > 2 ? CURVE : 0;
    this.faultRows = rowsOf(run.faults, run.end);
    const begin: number[] = [];  // of the next, by row
    this.faultNext = run.faults.map(() => Infinity);
    for (let i = run.faults.length - 1; i >= 0; --i) {
      this.faultNext[i] = begin[this.faultRows[i]!] ?? Infinity;
      begin[this.faultRows[i]!] = run.faults[i]!.from;
    }
    this.violatedNames = [...new Set([...violated, ...run.violations.map((violation) => violation.invariant)])];
    this.layOut();
    this.recolour();
  }

  recolour(): void {
    const style = getComputedStyle(document.documentElement);
    for (const name of COLOURS) this.colours[name] = style.getPropertyValue(`--${name}`).trim();
    this.draw();
  }

  resize(): void {
    const box = this.canvas.parentElement!.clientWidth;
    this.width = Math.max(200, box);
    this.gutter = this.width < 600 ? 74 : 124;
    this.layOut();
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint();
  }

  private layOut(): void {
    const { nodes, locks } = this.run.head.scenario;
    this.lanes = [];
    let top = this.axis + AXIS;
    const add = (kind: Lane['kind'], index: number, height: number, name: string): void => {
      this.lanes.push({ kind, index, top, height, name });
      top += height;
    };
    const { violatedNames } = this;
    if (violatedNames.length > 0) add('violations', 0, 6 + 18 * violatedNames.length, 'violations');
    if (this.run.faults.length > 0) add('faults', 0, 6 + 18 * (Math.max(...this.faultRows) + 1), 'faults');
    const addNodes = (which: number[]): void => {
      for (const i of which) if (this.node < 0 || this.node === i) add('node', i, nodes.length <= FEW ? TALL : 22, nodes[i]!.name);
    };
    const addLocks = (): void => locks.forEach((lock, i) => {
      // A trace does not tell who holds a row.
      if (this.run.head.from_trace === true) return;
      if (this.lock < 0 || this.lock === i) add('lock', i, 34, locks.length === 1 ? 'lock row' : lock);
    });
    const addResources = (): void => locks.forEach((lock, i) => {
      const writes = this.writes[i]!;
      for (const fenced of [1, 0]) {
        const { accepted, refused } = writes[fenced]!;
        if (accepted.length + refused.length === 0 || (this.lock >= 0 && this.lock !== i)) continue;
        const name = fenced === 1 ? 'writes, fenced' : 'writes, not fenced';
        add('resource', 2 * i + fenced, 28, locks.length === 1 ? name : `${lock}: ${name}`);
      }
    });
    const all = nodes.map((_, i) => i);
    if (nodes.length <= FEW) {
      addNodes(all);
      add('spanner', 0, 40, 'Spanner');
      addLocks();
      addResources();
    } else {
      // Of many processes, first what became of the lock and its writes, and who led.
      addLocks();
      addResources();
      addNodes(all.filter((i) => !this.rest.includes(i)));
      add('spanner', 0, 40, 'Spanner');
      if (this.canFold) add('rest', 0, 34, `${this.rest.length} never led`);
      if (!this.folded || !this.canFold) addNodes(this.rest);
    }
    this.height = top + 4;
  }

  // Whether there are processes that never led, which a click shows and folds.
  get canFold(): boolean { return this.rest.length > 0 && this.node < 0; }
  isBand(y: number): boolean {
    return this.lanes.some((lane) => lane.kind === 'rest' && y >= lane.top && y <= lane.top + lane.height);
  }
  bandText(): string {
    return `${this.rest.length} processes never led: how many of them are up, and their calls. A click ${this.folded ? 'shows' : 'folds'} them.`;
  }

  // If there are many processes: those that neither led nor violated anything.
  private thatNeverLed(): number[] {
    const { nodes } = this.run.head.scenario;
    if (nodes.length <= FEW) return [];
    const telling = new Set<number>();
    for (const versions of this.versions) for (const version of versions) telling.add(version.node);
    for (const violation of this.run.violations) telling.add(this.run.node[violation.event - 1] ?? -1);
    return nodes.map((_, i) => i).filter((i) => !telling.has(i) &&
      this.spans.believes[i]!.spans.length === 0 && this.spans.works[i]!.spans.length === 0);
  }
  private upOfRest(): { at: Float64Array; count: Int32Array } {
    const changes = this.rest.flatMap((node) => this.spans.up[node]!.spans.flatMap((span) => [[span.from, 1], [span.to, -1]]))
      .sort((a, b) => a[0]! - b[0]!);
    let up = 0;
    return { at: Float64Array.from(changes, (change) => change[0]!), count: Int32Array.from(changes, (change) => up += change[1]!) };
  }

  // The names of the colours that this run has, for the legend.
  colourNames(): Set<string> {
    const any = (all: Sorted[]): boolean => all.some((sorted) => sorted.spans.length > 0);
    const { spans, writes } = this;
    const has: [string, boolean][] = [['up', any(spans.up)], ['believes', any(spans.believes)], ['works', any(spans.works)],
      ['paused', any(spans.paused)], ['cut', any(spans.cut_to) || any(spans.cut_from)], ['fault', this.run.faults.length > 0],
      ['call', this.calls.some((calls) => calls.sent.length > 0)],
      ['failed-call', this.calls.some((calls) => calls.served.some(Number.isNaN))],
      ['lease', this.versions.some((versions) => versions.some((version) => version.held))],
      ['holder', this.versions.some((versions) => versions.some((version) => version.leaseUntil > 0))],
      ['ink', this.commits.length > 0],
      ['accepted', writes.some((all) => all.some((one) => one.accepted.length > 0))],
      ['refused', writes.some((all) => all.some((one) => one.refused.length > 0))],
      ['warning', this.run.eventsOf('stale_write_accepted').length > 0], ['bad', this.run.violations.length > 0]];
    return new Set(has.filter(([, is]) => is).map(([name]) => name));
  }

  x(at: number): number { return this.gutter + (at - this.from) / (this.to - this.from) * (this.width - this.gutter - 6); }
  timeAt(x: number): number { return this.from + (x - this.gutter) / (this.width - this.gutter - 6) * (this.to - this.from); }

  show(from: number, to: number): void {
    const shortest = 1000;  // ns
    const wide = Math.min(Math.max(to - from, shortest), this.run.end);
    this.from = Math.min(Math.max(0, from), this.run.end - wide);
    this.to = this.from + wide;
    this.draw();
  }
  zoom(factor: number, around: number): void {
    const wide = (this.to - this.from) * factor;
    const share = (around - this.from) / (this.to - this.from);
    this.show(around - wide * share, around + wide * (1 - share));
  }
  reveal(at: number): void {
    if (at >= this.from && at <= this.to) return this.draw();
    const wide = this.to - this.from;
    this.show(at - wide / 2, at + wide / 2);
  }

  draw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.paint(); });
  }

  paint(): void {
    const c = this.context;
    c.font = FONT;
    c.textBaseline = 'middle';
    c.fillStyle = this.colours['ground']!;
    c.fillRect(0, 0, this.width, this.height);
    c.save();
    c.beginPath();
    c.rect(this.gutter, 0, this.width - this.gutter, this.height);
    c.clip();
    this.paintFaultShades();
    for (const lane of this.lanes) this.paintLane(lane);
    this.paintAxis();
    this.paintCurve();
    this.paintCalls();
    this.paintViolations();
    this.paintSelected();
    c.restore();
    this.paintNames();
    this.paintCurveNames();
  }

  private paintNames(): void {
    const c = this.context;
    c.strokeStyle = this.colours['line']!;
    c.lineWidth = 1;
    for (const lane of this.lanes) {
      c.beginPath();
      c.moveTo(0, lane.top + 0.5);
      c.lineTo(this.width, lane.top + 0.5);
      c.stroke();
      c.fillStyle = this.colours['ink']!;
      // "writes, not fenced" in two lines where one has no room.
      const [first, second] = lane.name.split(', ');
      if (lane.kind === 'resource' && second !== undefined && c.measureText(lane.name).width > this.gutter - 10) {
        c.fillText(this.fit(first!, this.gutter - 10), 6, lane.top + 8);
        c.fillText(this.fit(second, this.gutter - 7), 6, lane.top + 20);
      } else {
        const mark = this.folded ? '▸' : '▾', room = this.gutter - 10;
        const name = lane.kind === 'rest' ? this.best(room, `${mark} ${lane.name}`, `${mark} ${this.rest.length} others`, `${mark} ${this.rest.length}`) : this.fit(lane.name, room);
        c.fillText(name, 6, lane.top + Math.min(lane.height / 2, 14));
      }
      if (lane.kind !== 'node' || lane.height < 40) continue;
      const node = this.run.head.scenario.nodes[lane.index]!;
      const clock = [node.clock_offset === 0 ? '' : `clock ${signed(node.clock_offset)}`,
        node.clock_ppm === 0 ? '' : `${node.clock_ppm} ppm`].filter((text) => text !== '').join(', ');
      c.fillStyle = this.colours['quiet']!;
      c.fillText(this.fit(clock !== '' ? clock : node.lease === '' ? '' : `lease ${node.lease}`, this.gutter - 10), 6, lane.top + 31);
    }
  }

  // The first of these texts that fits; none, if none does.
  private best(room: number, ...texts: string[]): string {
    return texts.find((text) => this.context.measureText(text).width <= room) ?? '';
  }
  // A name whose end tells it from others, as of pods.
  private fit(name: string, room: number): string {
    if (this.context.measureText(name).width <= room) return name;
    let kept = name.slice(1);
    while (kept.length > 1 && this.context.measureText(`…${kept}`).width > room) kept = kept.slice(1);
    return room < 24 ? '' : `…${kept}`;
  }

  private paintAxis(): void {
    const c = this.context;
    const wide = this.to - this.from;
    const room = (this.width - this.gutter) / 90;
    let step = 10 ** Math.floor(Math.log10(wide / room));
    for (const factor of [1, 2, 5, 10]) if (wide / (step * factor) <= room) { step *= factor; break; }
    const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step) + 1e-9)));
    c.fillStyle = this.colours['quiet']!;
    c.strokeStyle = this.colours['line']!;
    c.lineWidth = 1;
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      const x = Math.round(this.x(at)) + 0.5;
      c.beginPath();
      c.moveTo(x, this.axis + AXIS - 6);
      c.lineTo(x, this.axis + AXIS);
      c.stroke();
      const text = `${(at / 1e9).toFixed(digits)} s`;
      c.fillText(text, Math.min(x + 3, this.width - c.measureText(text).width - 2), this.axis + AXIS / 2);
    }
  }

  // --- when it was decided ---------------------------------------------------------------------------

  private curveY(share: number): number { return CURVE - 8 - share * (CURVE - 34); }
  private share(moment: number): number {
    const { continuations, violated } = this.run.head.decision!.moments[moment]!;
    return continuations === 0 ? 1 : violated / continuations;
  }

  // The share of continuations that end in the violation, and the names of its jumps.
  private paintCurve(): void {
    const decision = this.run.head.decision;
    if (this.axis === 0 || decision === undefined) return;
    const c = this.context;
    c.strokeStyle = this.colours['line']!;
    c.lineWidth = 1;
    for (const share of [0, 0.5, 1]) {
      c.beginPath();
      c.moveTo(this.gutter, this.curveY(share) + 0.5);
      c.lineTo(this.width, this.curveY(share) + 0.5);
      c.stroke();
    }
    c.strokeStyle = c.fillStyle = this.colours['bad']!;
    c.lineWidth = 2;
    c.beginPath();
    decision.moments.forEach((moment, i) => {
      const x = this.x(moment.at), y = this.curveY(this.share(i));
      if (i === 0) c.moveTo(x, y); else c.lineTo(x, y);
    });
    c.stroke();
    decision.moments.forEach((moment, i) => {
      c.beginPath();
      c.arc(this.x(moment.at), this.curveY(this.share(i)), 2.5, 0, 2 * Math.PI);
      c.fill();
    });
    // A name stands to the right of its jump, on the side that the curve has left.
    let free = Infinity;
    for (const jump of [...decision.jumps].reverse()) {
      const at = this.x(decision.moments[jump.moment]!.at);
      const before = this.share(jump.moment - 1), after = this.share(jump.moment);
      const change = Math.round(100 * (after - before));
      if (Math.abs(change) < SMALL || at < this.gutter || at > this.width) continue;
      const text = `${change > 0 ? '+' : ''}${change} %: ${jump.text}`;
      const isRight = this.width - at > Math.min(c.measureText(text).width + 16, (this.width - this.gutter) / 2);
      const shown = this.best((isRight ? this.width - at : at - this.gutter) - 16, ...clauses(text));
      const below = (after > before) === isRight;
      const y = this.curveY(below ? Math.min(before, after) : Math.max(before, after)) + (below ? 9 : -9);
      const apart = Math.abs(y - free) < 15 ? free + 15 : y;
      free = apart;
      this.label(shown, isRight ? at + 8 : at - 8 - c.measureText(shown).width, Math.min(apart, CURVE - 2), 'ink');
    }
  }

  private paintCurveNames(): void {
    if (this.axis === 0) return;
    const c = this.context;
    c.fillStyle = this.colours['ink']!;
    c.fillText('decided', 6, 10);
    c.fillStyle = this.colours['quiet']!;
    c.fillText(this.best(this.width - this.gutter - 8, `of other runs that go on from here, how many violate ${this.run.head.decision!.invariant}`,
      `how many runs from here violate ${this.run.head.decision!.invariant}`, 'how many runs from here violate it'), this.gutter, 10);
    for (const share of [0, 0.5, 1]) {
      const text = `${share * 100} %`;
      c.fillText(text, this.gutter - c.measureText(text).width - 4, this.curveY(share));
    }
  }

  // Calls `paint` for each span in view; for those that fall into one pixel, once.
  private eachSpan(sorted: Sorted | undefined, paint: (x: number, width: number, span: Span) => void): void {
    if (sorted === undefined) return;
    const { spans, from, to } = sorted;
    for (let i = lowerBound(to, this.from); i < spans.length; ) {
      const span = spans[i]!;
      if (span.from > this.to) return;
      if (span.to < this.from) { ++i; continue; }
      const x = Math.max(this.gutter - 2, this.x(span.from));
      const end = Math.min(this.width + 2, this.x(span.to));
      if (this.lock < 0 || span.lock === this.lock || spans === this.spans.up[0]?.spans) paint(x, Math.max(1, end - x), span);
      ++i;
      if (end - x < 1) i = Math.max(i, lowerBound(from, this.timeAt(Math.floor(x) + 1)));
    }
  }

  private paintFaultShades(): void {
    const c = this.context;
    for (const fault of this.run.faults) {
      const x = this.x(fault.from), width = Math.max(2, this.x(fault.to) - x);
      if (x > this.width || x + width < this.gutter) continue;
      c.fillStyle = this.colours['fault']!;
      for (const lane of this.lanes) {
        const concerns = lane.kind === 'node' ? lane.index === fault.node : lane.kind === 'spanner' && fault.node < 0;
        if (concerns) c.fillRect(x, lane.top, width, lane.height);
      }
    }
  }

  private paintLane(lane: Lane): void {
    if (lane.kind === 'faults') this.paintFaults(lane);
    if (lane.kind === 'node') this.paintNode(lane);
    if (lane.kind === 'rest') this.paintRest(lane);
    if (lane.kind === 'spanner') this.paintSpanner(lane);
    if (lane.kind === 'lock') this.paintLock(lane);
    if (lane.kind === 'resource') this.paintResource(lane);
  }

  private paintFaults(lane: Lane): void {
    const c = this.context;
    const free: number[] = [], unnamed: number[] = [];
    this.run.faults.forEach((fault, i) => {
      const x = Math.max(this.gutter, this.x(fault.from)), end = Math.min(this.width, this.x(fault.to));
      const row = this.faultRows[i]!;
      if (x > this.width || end < this.gutter) return;
      const top = lane.top + 4 + 18 * row;
      if (x >= (free[row] ?? -Infinity)) {
        c.fillStyle = this.colours['fault']!;
        c.fillRect(x, top, Math.max(3, end - x), 15);
        c.fillStyle = this.colours['fault-edge']!;
        c.fillRect(x, top, Math.max(3, end - x), 2);
        free[row] = x + 3;
      }
      // A text may go on beyond its band, up to the next band of its row. What has none is counted in the next text.
      const next = Math.min(this.width, this.x(this.faultNext[i]!)), at = Math.min(x + 5, this.width);
      const many = (unnamed[row] ?? 0) + 1;
      unnamed[row] = next - at > 30 ? 0 : many;
      if (next - at <= 30) return;
      // What was inferred names its process.
      const isNamed = fault.node >= 0 && this.run.head.recorded !== true;
      const who = isNamed ? `${this.run.nodeName(fault.node)}: ` : '';
      const what = isNamed ? fault.text : fault.text.replace(/^inferred: /, '');
      const texts = many > 1 ? [`${many} faults, the last: ${who}${fault.text}`, `${many} faults`]
        : [...clauses(what).map((text) => who + text), ...clauses(what)];
      c.fillStyle = this.colours['ink']!;
      c.fillText(this.best(next - at - 6, ...texts), at, top + 9);
    });
  }

  private paintNode(lane: Lane): void {
    const c = this.context;
    const i = lane.index;
    const bar = lane.height >= 40 ? 16 : 10;
    const top = lane.top + (lane.height >= 40 ? 14 : 6);
    const fill = (colour: string, y: number, height: number) => (x: number, width: number): void => {
      c.fillStyle = this.colours[colour]!;
      c.fillRect(x, y, width, height);
    };
    this.eachSpan(this.spans.up[i], (x, width) => fill('up', top, bar)(x, width));
    const pauses = this.spans.paused[i]!.from;
    this.eachSpan(this.spans.believes[i], (x, width, span) => {
      fill('believes', top, bar)(x, width);
      c.fillStyle = this.colours['ink']!;
      // A pause has a text of its own.
      const pause = pauses[lowerBound(pauses, span.from)] ?? Infinity;
      const room = Math.min(width, this.x(pause) - x) - 8;
      if (bar > 12) c.fillText(this.best(room, 'believes it leads', 'leads'), x + 5, top + bar / 2 + 1);
    });
    this.eachSpan(this.spans.works[i], fill('works', top + bar, 4));
    this.eachSpan(this.spans.paused[i], (x, width) => {
      c.save();
      c.beginPath();
      c.rect(x, top - 1, width, bar + 2);
      c.clip();
      c.strokeStyle = this.colours['paused']!;
      c.lineWidth = 2;
      const first = Math.max(x, this.gutter) - bar;
      for (let at = first - (first % 7); at < Math.min(x + width, this.width) + bar; at += 7) {
        c.beginPath();
        c.moveTo(at, top + bar + 2);
        c.lineTo(at + bar + 2, top - 2);
        c.stroke();
      }
      c.restore();
      // Of a history nobody saw the pause.
      if (width > 60) this.label(this.run.head.recorded === true ? 'silent' : 'paused', Math.max(x, this.gutter) + width / 2 - 20, top + bar / 2, 'ink');
    });
    for (const kind of ['cut_to', 'cut_from'] as const) {
      this.eachSpan(this.spans[kind][i], fill('cut', kind === 'cut_to' ? top - 5 : top - 3, 2));
    }
    this.paintGone(i, top, bar);
  }

  // How many of the processes that never led are up.
  private paintRest(lane: Lane): void {
    const c = this.context;
    const { at, count } = this.restUp;
    const tallest = 18, bottom = lane.top + 22;
    c.fillStyle = this.colours['up']!;
    for (let x = this.gutter; x < this.width - 6; ++x) {
      const place = lowerBound(at, this.timeAt(x + 1)) - 1;
      const height = (place < 0 ? 0 : count[place]!) / this.rest.length * tallest;
      c.fillRect(x, bottom - height, 1, height);
    }
  }

  // A process that is gone: a mark where it went.
  private paintGone(node: number, top: number, bar: number): void {
    const c = this.context;
    c.fillStyle = this.colours['ink']!;
    this.eachSpan(this.spans.up[node], (x, width, span) => {
      if (span.to < this.run.end && x + width <= this.width) this.label('×', x + width - 4, top + bar / 2, 'ink');
    });
  }

  private label(text: string, x: number, y: number, colour: string): void {
    const c = this.context;
    const width = c.measureText(text).width;
    c.fillStyle = this.colours['ground']!;
    c.fillRect(x - 2, y - 7, width + 4, 14);
    c.fillStyle = this.colours[colour]!;
    c.fillText(text, x, y + 0.5);
  }

  private paintSpanner(lane: Lane): void {
    const c = this.context;
    c.strokeStyle = this.colours['quiet']!;
    c.lineWidth = 2;
    c.beginPath();
    c.moveTo(this.gutter, lane.top + 10);
    c.lineTo(this.width, lane.top + 10);
    c.stroke();
    const epsilon = this.run.head.scenario.epsilon;
    const perNs = (this.width - this.gutter) / (this.to - this.from);
    c.fillStyle = this.colours['ink']!;
    this.eachPixel(this.commits, (x) => {
      if (epsilon * perNs > 3) c.fillRect(x - epsilon * perNs, lane.top + 26, 2 * epsilon * perNs, 3);
      c.fillRect(x - 1, lane.top + 20, 3, 14);
    });
  }

  // Calls `paint` once for each pixel that has a time.
  private eachPixel(times: Float64Array, paint: (x: number) => void): void {
    for (let i = lowerBound(times, this.from); i < times.length && times[i]! <= this.to; ) {
      const x = this.x(times[i]!);
      paint(x);
      i = Math.max(i + 1, lowerBound(times, this.timeAt(Math.floor(x) + 1)));
    }
  }

  private paintLock(lane: Lane): void {
    const c = this.context;
    const versions = this.versions[lane.index]!;
    const times = this.versionTimes[lane.index]!;
    const first = Math.max(0, lowerBound(times, this.from) - 1);
    let begun = 0, text = '', who = '', free = -Infinity;
    let since = 0, isNamed = false;  // of one holder's terms
    const flush = (end: number): void => {
      if (text === '') return;
      const x = Math.max(begun, this.gutter);
      c.fillStyle = this.colours['lease']!;
      c.fillRect(x, lane.top + 4, Math.max(1, end - x), 16);
      c.fillStyle = this.colours['holder']!;
      c.fillRect(x, lane.top + 4, 2, 16);
      if (end - x > 24 && x > free) {
        c.fillStyle = this.colours['ink']!;
        const room = end - x - 8;
        const shown = this.best(room, text, who) || this.fit(who, room);
        c.fillText(shown, x + 5, lane.top + 12.5);
        isNamed ||= shown !== '';
        free = x;
      }
    };
    // Names a holder whose terms are too short for its name, as where each heartbeat has a token of its own.
    const flushHolder = (end: number): void => {
      const x = Math.max(since, this.gutter), room = end - x - 8;
      if (who === '' || isNamed || room < 24) return;
      const shown = this.best(room, who) || this.fit(who, room);
      c.fillStyle = this.colours['lease']!;
      c.fillRect(x + 3, lane.top + 4, c.measureText(shown).width + 5, 16);
      c.fillStyle = this.colours['ink']!;
      c.fillText(shown, x + 5, lane.top + 12.5);
    };
    for (let i = first; i < versions.length && times[i]! <= this.to; ) {
      const version = versions[i]!;
      const x = this.x(version.at);
      const holder = version.node >= 0 ? this.run.nodeName(version.node) : 'nobody';
      const now = !version.held ? '' : version.token === '' ? holder : `${holder}, token ${version.token}`;
      if (now !== text) {
        flush(x);
        if (now === '' || holder !== who) { flushHolder(x); since = x; isNamed = false; }
        begun = x; text = now; who = now === '' ? '' : holder;
      }
      const next = times[i + 1] ?? this.run.end;
      if (version.held && version.leaseUntil > 0) {
        // The lease as this version says it, faint beyond the next version.
        const until = Math.min(this.x(version.leaseUntil), this.x(next) + 400);
        c.fillStyle = this.colours['holder']!;
        c.fillRect(Math.max(x, this.gutter), lane.top + 23, Math.max(1, Math.min(until, this.x(next)) - Math.max(x, this.gutter)), 4);
        if (version.leaseUntil < next) {
          c.fillRect(until - 1, lane.top + 20, 2, 10);
          if (this.x(next) - until > 130) this.label('lease has run out', until + 6, lane.top + 26, 'quiet');
        }
      }
      i = Math.max(i + 1, x >= this.gutter ? lowerBound(times, this.timeAt(Math.floor(x) + 1)) : 0);
      if (i > first + 1 && i < versions.length && times[i]! > this.to) break;
    }
    flush(Math.min(this.width, this.x(this.run.end)));
    flushHolder(Math.min(this.width, this.x(this.run.end)));
  }

  private paintResource(lane: Lane): void {
    const c = this.context;
    const writes = this.writes[lane.index >> 1]![lane.index & 1]!;
    const middle = lane.top + lane.height / 2;
    c.fillStyle = this.colours['accepted']!;
    this.eachPixel(writes.accepted, (x) => c.fillRect(x - 0.75, middle - 7, 1.5, 14));
    c.strokeStyle = this.colours['refused']!;
    c.lineWidth = 2;
    let free = -Infinity, last = -Infinity;
    // Named where the next one leaves room.
    const name = (next: number): void => { if (last >= this.gutter && next - last > 66) this.label('refused', last + 10, middle, 'refused'); };
    this.eachPixel(writes.refused, (x) => {
      if (x < free) return;
      c.beginPath();
      c.moveTo(x - 5, middle - 6); c.lineTo(x + 5, middle + 6);
      c.moveTo(x + 5, middle - 6); c.lineTo(x - 5, middle + 6);
      c.stroke();
      name(x);
      last = x;
      free = x + 4;
    });
    name(this.width);
    for (const event of this.run.staleAccepted(lane.index >> 1, (lane.index & 1) === 1)) {
      const x = this.x(this.run.timeOf(event));
      if (x < this.gutter || x > this.width) continue;
      c.fillStyle = this.colours['warning']!;
      c.fillRect(x - 1.5, middle - 10, 3, 20);
      this.label('stale, accepted', x + 8, middle, 'warning');
    }
  }

  private paintCalls(): void {
    const spanner = this.lanes.find((lane) => lane.kind === 'spanner');
    if (spanner === undefined) return;
    const lanes = this.lanes.filter((lane) => lane.kind === 'node');
    const counts = lanes.map((lane) => {
      const { sent } = this.calls[lane.index]!;
      return lowerBound(sent, this.to) - lowerBound(sent, this.from);
    });
    const all = counts.reduce((sum, count) => sum + count, 0);
    lanes.forEach((lane) => {
      if (all <= (this.width - this.gutter) / 3) this.paintArrows(lane, spanner); else this.paintDensity(lane, this.calls[lane.index]!.sent);
    });
    const rest = this.lanes.find((lane) => lane.kind === 'rest');
    if (rest !== undefined) this.paintDensity(rest, this.restSent);
  }

  private paintArrows(lane: Lane, spanner: Lane): void {
    const c = this.context;
    const { event, sent, served, ended } = this.calls[lane.index]!;
    // Of many processes, those that never led are below Spanner.
    const isBelow = lane.top > spanner.top;
    const low = lane.top + (isBelow ? 6 : lane.height >= 40 ? 35 : 16), high = spanner.top + (isBelow ? 11 : 9);
    let free = -Infinity;
    for (let i = Math.max(0, lowerBound(sent, this.from) - 20); i < sent.length && sent[i]! <= this.to; ++i) {
      const number = event[i]!;
      if (this.step >= 0 && this.run.step[number - 1] !== this.step) continue;
      if (this.lock >= 0 && this.run.lock[number - 1] !== this.lock) continue;
      const lost = Number.isNaN(served[i]!);
      const x = lost ? Math.round(this.x(sent[i]!)) + 0.5 : this.x(sent[i]!);
      c.strokeStyle = c.fillStyle = this.colours[lost ? 'failed-call' : 'call']!;
      c.lineWidth = 1;
      c.setLineDash(lost ? [4, 3] : []);
      c.beginPath();
      c.moveTo(x, low);
      if (lost) {
        c.lineTo(x, lane.top + lane.height - 6);
      } else {
        c.lineTo(this.x(served[i]!), high);
        if (!Number.isNaN(ended[i]!)) c.lineTo(this.x(ended[i]!), low);
      }
      c.stroke();
      c.setLineDash([]);
      if (lost) { c.fillText('×', x - 4, lane.top + lane.height - 5); continue; }
      const tip = this.x(served[i]!);
      c.beginPath();
      const foot = isBelow ? high + 5 : high - 5;
      c.moveTo(tip, high); c.lineTo(tip - 3, foot); c.lineTo(tip + 3, foot);
      c.fill();
      const step = this.run.steps[this.run.step[number - 1]!] ?? '';
      const width = c.measureText(step).width;
      const next = Math.min(this.width, sent[i + 1] === undefined ? Infinity : this.x(sent[i + 1]!));
      if (x > free && next - x > width + 8 && lane.height >= 40) {
        c.fillStyle = this.colours['quiet']!;
        c.fillText(step, x + 4, lane.top + 44);
        free = x + width;
      }
    }
  }

  // How many calls each pixel has.
  private paintDensity(lane: Lane, sent: Float64Array): void {
    const c = this.context;
    const bottom = lane.top + lane.height - 2, tallest = lane.height >= 30 ? 8 : 4;
    const bar = 3;
    let before = lowerBound(sent, this.from);
    const counts: number[] = [];
    let most = 1;
    for (let x = this.gutter; x < this.width; x += bar) {
      const after = lowerBound(sent, this.timeAt(x + bar));
      counts.push(after - before);
      most = Math.max(most, after - before);
      before = after;
    }
    c.fillStyle = this.colours['call']!;
    counts.forEach((count, i) => {
      if (count === 0) return;
      const height = Math.max(1, count / most * tallest);
      c.fillRect(this.gutter + i * bar, bottom - height, bar - 1, height);
    });
  }

  // A row for each violated invariant, with its name at its first violation, from which a line goes
  // through the whole picture.
  private paintViolations(): void {
    const lane = this.lanes.find((one) => one.kind === 'violations');
    if (lane === undefined) return;
    const c = this.context;
    const last = this.violatedNames.map(() => -Infinity);
    const firsts: { x: number; row: number; name: string }[] = [];
    const seen = new Set<string>();
    for (const violation of this.run.violations) {
      const row = this.violatedNames.indexOf(violation.invariant);
      const x = this.x(violation.at);
      const isFirst = !seen.has(violation.invariant);
      seen.add(violation.invariant);
      if (isFirst) firsts.push({ x, row, name: violation.invariant });
      if (x < this.gutter || x > this.width || x - last[row]! < 2) continue;
      last[row] = x;
      c.fillStyle = this.colours['bad']!;
      c.fillRect(x - 1, lane.top + 4 + 18 * row, 3, 15);
    }
    for (const { x, row, name } of firsts) {
      const top = lane.top + 4 + 18 * row;
      const text = name;
      const width = c.measureText(text).width + 10;
      if (x >= this.gutter && x <= this.width) {
        c.fillStyle = this.colours['bad']!;
        c.fillRect(x - 1, top, 2, this.height);
      }
      // Before its first violation there is room, unless that is at the left edge.
      const left = x - width > this.gutter ? Math.min(x, this.width) - width : Math.max(this.gutter, x);
      c.fillStyle = this.colours['bad-ground']!;
      c.fillRect(left, top, width, 15);
      c.fillStyle = this.colours['bad']!;
      c.fillText(text, left + 5, top + 8);
    }
  }

  private paintSelected(): void {
    if (this.selected === 0) return;
    const c = this.context;
    const x = this.x(this.run.timeOf(this.selected));
    c.strokeStyle = this.colours['focus']!;
    c.lineWidth = 2;
    c.setLineDash([3, 3]);
    c.beginPath();
    c.moveTo(x, 0);
    c.lineTo(x, this.height);
    c.stroke();
    c.setLineDash([]);
    const lane = this.laneOf(this.selected);
    // A violation has its line and its name.
    if (lane === undefined || lane.kind === 'violations') return;
    c.beginPath();
    c.arc(x, lane.top + Math.min(lane.height / 2, 22), 6, 0, 2 * Math.PI);
    c.stroke();
  }

  private laneOf(event: number): Lane | undefined {
    const kind = this.run.kindOf(event);
    const node = this.run.node[event - 1]!, lock = this.run.lock[event - 1]!;
    const find = (wanted: Lane['kind'], index: number): Lane | undefined =>
      this.lanes.find((lane) => lane.kind === wanted && lane.index === index);
    if (this.run.violating.has(event)) return find('violations', 0);
    if (kind === 'row_committed') return find('lock', Math.max(lock, 0));
    if (kind === 'write_arrived') return find('resource', 2 * lock + (this.run.fencedWrite(event) ? 1 : 0));
    if (kind === 'call_served' || kind === 'call_waits' || kind === 'transaction_committed') return find('spanner', 0);
    return node >= 0 ? find('node', node) ?? find('rest', 0) : find('spanner', 0);
  }

  // The event nearest to that place; 0 if none is near.
  eventAt(x: number, y: number, passes: (event: number) => boolean): number {
    if (x < this.gutter) return 0;
    const near = 8;
    const first = lowerBound(this.run.at, this.timeAt(x - near)), last = lowerBound(this.run.at, this.timeAt(x + near));
    const most = 4000;
    // Where there are more, those around the place itself.
    const middle = lowerBound(this.run.at, this.timeAt(x));
    let best = 0, least = Infinity;
    for (let i = Math.max(first, middle - most); i < Math.min(last, middle + most); ++i) {
      const lane = this.laneOf(i + 1);
      if (lane === undefined || lane.kind === 'rest' || y < lane.top || y > lane.top + lane.height) continue;
      const important = this.run.violating.has(i + 1) ? 4 : this.run.lines.has(i + 1) ? 2 : 0;
      const distance = Math.abs(this.x(this.run.at[i]!) - x) - important;
      if (distance < least && passes(i + 1)) { best = i + 1; least = distance; }
    }
    return best;
  }

  // An event, in one line.
  tellOf(event: number): string { return `${seconds(this.run.timeOf(event))} s  ${this.run.text(event)}`; }

  summary(): string {
    const { nodes, locks } = this.run.head.scenario;
    const rows = this.lanes.slice(0, 12).map((lane) => lane.name).join('; ');
    return `Picture of the run: ${nodes.length} processes, ${locks.length} locks, ${this.run.faults.length} faults, ` +
      `${this.run.violations.length} violations, from ${seconds(this.from)} to ${seconds(this.to)} s. ` +
      `Its ${this.lanes.length} rows from above: ${rows}${this.lanes.length > 12 ? '; and more' : ''}.`;
  }
}

// The text, and its beginnings up to where a clause ends, the longest first.
function clauses(text: string): string[] {
  const ends = [...text.matchAll(/[,:;] | \(| at (?=\d)/g)].map((match) => match.index);
  return [text, ...ends.reverse().map((end) => text.slice(0, end))];
}

function signed(ns: number): string { return `${ns > 0 ? '+' : ''}${ns / 1e9} s`; }

// A row for each fault, so that bands of one row do not overlap; four at most.
function rowsOf(faults: Fault[], end: number): number[] {
  const most = 4;
  const free: number[] = [];
  const room = end / 6;  // for the text of a short one
  return faults.map((fault) => {
    let row = free.findIndex((until) => until <= fault.from);
    if (row < 0) row = free.length < most ? free.length : 0;
    free[row] = Math.max(fault.to, fault.from + room);
    return row;
  });
}
