// Plots as SVG: curves over a logarithmic axis, with their names on them, and strips of dots.
import { make } from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';

function shape(tag: string, className: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const made = document.createElementNS(SVG, tag);
  if (className !== '') made.setAttribute('class', className);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, typeof value === 'number' ? value.toFixed(1) : value);
  if (text !== '') made.textContent = text;
  return made;
}

function title(text: string): SVGElement {
  const made = document.createElementNS(SVG, 'title');
  made.textContent = text;
  return made;
}

export interface Point { x: number; y: number }
export interface Series { name: string; place: number; dashed: boolean; points: Point[]; about: string }

// A logarithmic axis over all that is shown, with round ticks.
class LogAxis {
  private readonly from: number;
  private readonly to: number;
  constructor(values: number[], private readonly low: number, private readonly high: number) {
    const positive = values.filter((value) => value > 0);
    this.from = Math.log10(Math.min(...positive)) - 0.04;
    this.to = Math.max(Math.log10(Math.max(...positive)) + 0.04, this.from + 0.3);
  }
  place(value: number): number {
    const log = value > 0 ? Math.log10(value) : this.from;
    return this.low + Math.min(1, Math.max(0, (log - this.from) / (this.to - this.from))) * (this.high - this.low);
  }
  ticks(): number[] {
    const width = this.to - this.from;
    const steps = width > 2.6 ? [1] : width > 0.7 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
    const ticks: number[] = [];
    for (let power = Math.floor(this.from); power <= this.to; ++power) {
      for (const step of steps) {
        const tick = step * 10 ** power, log = Math.log10(tick);
        if (log >= this.from && log <= this.to) ticks.push(tick);
      }
    }
    return ticks;
  }
}

export function timeText(ns: number): string {
  if (ns >= 60e9 * 2) return `${Math.round(ns / 60e9)} min`;
  if (ns >= 10e9) return `${Math.round(ns / 1e9)} s`;
  if (ns >= 1e9) return `${Number((ns / 1e9).toFixed(1))} s`;
  return `${Number((ns / 1e6).toPrecision(2))} ms`;
}
export function numberText(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
}

export interface Axes {
  label: string;         // what the plot shows, for those who cannot see it
  x: (value: number) => string;
  y: (value: number) => string;
  yTicks: number[] | null;  // null: logarithmic, too
}

export function curves(all: Series[], axes: Axes): SVGElement {
  const width = 520, height = 260, left = 52, right = 512, top = 12, bottom = 226;
  const svg = shape('svg', 'plot', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': axes.label });
  const points = all.flatMap((series) => series.points);
  if (points.length === 0) {
    svg.append(shape('text', 'tick', { x: width / 2, y: height / 2, 'text-anchor': 'middle' }, 'nothing was measured'));
    return svg;
  }
  const x = new LogAxis(points.map((point) => point.x), left, right);
  const linear = axes.yTicks;
  const logarithmic = linear === null ? new LogAxis(points.map((point) => point.y), bottom, top) : null;
  const most = linear?.at(-1) ?? 1;
  const y = (value: number): number => logarithmic?.place(value) ?? bottom - value / most * (bottom - top);
  for (const tick of linear ?? logarithmic!.ticks()) {
    svg.append(shape('line', 'rule', { x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      shape('text', 'tick', { x: left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, axes.y(tick)));
  }
  let free = -Infinity;
  for (const tick of x.ticks()) {
    const at = x.place(tick);
    svg.append(shape('line', 'rule', { x1: at, x2: at, y1: top, y2: bottom }));
    if (at < free) continue;
    svg.append(shape('text', 'tick', { x: at, y: bottom + 18, 'text-anchor': 'middle' }, axes.x(tick)));
    free = at + 44;
  }
  for (const series of all) {
    const path = series.points.map((point, i) => `${i === 0 ? 'M' : 'L'}${x.place(point.x).toFixed(1)},${y(point.y).toFixed(1)}`).join('');
    const line = shape('path', `${series.dashed ? 'least' : 'curve'} series-${series.place % 7}`, { d: path });
    line.append(title(series.about));
    svg.append(line);
  }
  // Names at different heights, each on its curve; T* is explained below the plot.
  const named = all.filter((series) => !series.dashed && series.points.length > 0)
    .sort((a, b) => a.points[a.points.length >> 1]!.x - b.points[b.points.length >> 1]!.x);
  named.forEach((series, i) => {
    const share = 1 - (i + 0.5) / named.length;
    const point = series.points[Math.min(series.points.length - 1, Math.floor(share * series.points.length))]!;
    const at = x.place(point.x), isRight = at > left + 0.75 * (right - left);
    svg.append(shape('text', `name of-${series.place % 7}`,
      { x: isRight ? at - 6 : at + 6, y: y(point.y) + 4, 'text-anchor': isRight ? 'end' : 'start' }, series.name));
  });
  return svg;
}

// One row of dots for each name, on one logarithmic axis of time.
export function strips(rows: { name: string; dots: { at: number; about: string }[] }[], label: string): SVGElement {
  const width = 760, left = 200, right = 740, line = 26;
  const height = 30 + rows.length * line;
  const svg = shape('svg', 'plot', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  const x = new LogAxis(rows.flatMap((row) => row.dots.map((dot) => dot.at)), left, right);
  for (const tick of x.ticks()) {
    svg.append(shape('line', 'rule', { x1: x.place(tick), x2: x.place(tick), y1: 4, y2: height - 22 }),
      shape('text', 'tick', { x: x.place(tick), y: height - 6, 'text-anchor': 'middle' }, timeText(tick)));
  }
  rows.forEach((row, i) => {
    const y = 16 + i * line;
    svg.append(shape('text', '', { x: left - 12, y: y + 4, 'text-anchor': 'end' }, row.name));
    for (const dot of row.dots) {
      const mark = shape('circle', 'dot', { cx: x.place(dot.at), cy: y, r: 4.5 });
      mark.append(title(dot.about));
      svg.append(mark);
    }
  });
  return svg;
}

// What a dashed curve and a solid one of the same colour are.
export function legend(texts: string[]): HTMLElement {
  return make('p', 'quiet', texts.join(' '));
}
