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

export interface Scale {
  text: (value: number) => string;
  ticks: number[] | null;  // null: logarithmic
}
export interface Axes {
  label: string;  // what the plot shows, for those who cannot see it
  x: Scale;
  y: Scale;
}

// A plot as wide as its place, up to a width, and drawn again when that changes: its texts keep their size.
export function fitted(most: number, draw: (width: number) => SVGElement): HTMLElement {
  const place = make('div', 'plot-place', '');
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.min(most, Math.floor(place.clientWidth));
    if (width === drawn || width === 0) return;
    drawn = width;
    place.replaceChildren(draw(width));
  }).observe(place);
  return place;
}

function placeOn(scale: Scale, values: number[], low: number, high: number): { place: (value: number) => number; ticks: number[] } {
  if (scale.ticks === null) {
    const axis = new LogAxis(values, low, high);
    return { place: (value) => axis.place(value), ticks: axis.ticks() };
  }
  const most = scale.ticks.at(-1)!;
  return { place: (value) => low + value / most * (high - low), ticks: scale.ticks };
}

// Heights for names, near to the wanted ones but a line apart. `wanted` grows.
export function apart(wanted: number[], line: number, top: number, bottom: number): number[] {
  const placed: number[] = [];
  for (const want of wanted) placed.push(Math.max(want, (placed.at(-1) ?? top - line) + line));
  for (let i = placed.length - 1, free = bottom; i >= 0; --i) free = (placed[i] = Math.min(placed[i]!, free)) - line;
  return placed;
}

// Curves with their names at their ends; T* is explained below the plot.
export function curves(all: Series[], axes: Axes, width: number): SVGElement {
  const named = all.filter((series) => !series.dashed && series.points.length > 0);
  const letters = Math.max(4, ...named.map((series) => series.name.length));
  const height = 270, left = 52, right = width - 22 - 7.4 * letters, top = 12, bottom = 236;
  const svg = shape('svg', 'plot', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': axes.label });
  const points = all.flatMap((series) => series.points);
  if (points.length === 0) {
    svg.append(shape('text', 'tick', { x: width / 2, y: height / 2, 'text-anchor': 'middle' }, 'nothing was measured'));
    return svg;
  }
  const x = placeOn(axes.x, points.map((point) => point.x), left, right);
  const y = placeOn(axes.y, points.map((point) => point.y), bottom, top);
  let free = Infinity;
  for (const tick of y.ticks) {
    const at = y.place(tick);
    svg.append(shape('line', 'rule', { x1: left, x2: right, y1: at, y2: at }));
    if (at > free) continue;
    svg.append(shape('text', 'tick', { x: left - 6, y: at + 4, 'text-anchor': 'end' }, axes.y.text(tick)));
    free = at - 14;
  }
  free = -Infinity;
  for (const tick of x.ticks) {
    const at = x.place(tick);
    svg.append(shape('line', 'rule', { x1: at, x2: at, y1: top, y2: bottom }));
    if (at < free) continue;
    svg.append(shape('text', 'tick', { x: at, y: bottom + 18, 'text-anchor': 'middle' }, axes.x.text(tick)));
    free = at + 48;
  }
  for (const series of all) {
    const path = series.points.map((point, i) => `${i === 0 ? 'M' : 'L'}${x.place(point.x).toFixed(1)},${y.place(point.y).toFixed(1)}`).join('');
    const line = shape('path', `${series.dashed ? 'least' : 'curve'} series-${series.place % 7}`, { d: path });
    line.append(title(series.about));
    svg.append(line);
  }
  const ends = named.map((series) => ({ series, x: x.place(series.points.at(-1)!.x), y: y.place(series.points.at(-1)!.y) }))
    .sort((a, b) => a.y - b.y);
  const heights = apart(ends.map((end) => end.y), 15, top, bottom);
  ends.forEach((end, i) => {
    const at = heights[i]!, of = end.series.place % 7;
    svg.append(shape('line', `leader series-${of}`, { x1: end.x, y1: end.y, x2: right + 10, y2: at }),
      shape('text', `name of-${of}`, { x: right + 14, y: at + 4 }, end.series.name));
  });
  return svg;
}

// One row of dots for each name, on one logarithmic axis of time.
export function strips(rows: { name: string; dots: { at: number; about: string }[] }[], label: string, width: number): SVGElement {
  const letters = Math.max(...rows.map((row) => row.name.length));
  const left = 20 + 7.1 * letters, right = width - 20, line = 26;
  const height = 30 + rows.length * line;
  const svg = shape('svg', 'plot', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label });
  const x = new LogAxis(rows.flatMap((row) => row.dots.map((dot) => dot.at)), left, right);
  let free = -Infinity;
  for (const tick of x.ticks()) {
    const at = x.place(tick);
    svg.append(shape('line', 'rule', { x1: at, x2: at, y1: 4, y2: height - 22 }));
    if (at < free) continue;
    svg.append(shape('text', 'tick', { x: at, y: height - 6, 'text-anchor': 'middle' }, timeText(tick)));
    free = at + 48;
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
