// Figures of `whorl bench takeover` and `whorl bench cost`: distributions of takeovers beside T*, the
// least possible time, and what locks cost.
import { begin, count, element, fillTable, headText, make } from './dom.js';
import { curves, fitted, legend, numberText, timeText } from './plot.js';
import type { Series } from './plot.js';

interface TakeoverCase {
  fault: string; protocol: string; lease: string; followers: number; preset: string;
  runs: number; takeovers: number; kept: number; stable: boolean;
  first_write: number[]; grant: number[]; least: number[];  // percentiles 0 to 100, ns
  p50: number | null; p90: number | null; p99: number | null; max: number | null;
  ratio_p50: number | null; ratio_p99: number | null;
}
interface CostCase {
  protocol: string; lease: string; lease_ns: number; followers: number; transactions: number; rpcs: number;
  takeover_p50: number | null; takeover_p99: number | null;
  least_p50: number | null; least_p99: number | null;
}
interface BenchHead {
  bench: 'takeover' | 'cost'; whorl: string; interrupted: boolean; left_out: string[];
  cases?: TakeoverCase[]; tradeoffs?: CostCase[];
}

const distinct = (texts: string[]): string[] => [...new Set(texts)];

const WIDE = 620;  // of a plot

function table(heads: string[], rows: (string | number | null)[][], figuresFrom: number): void {
  fillTable(element('table'), heads, rows.map((row) => row.map((cell) => cell === null ? '-' : String(cell))),
    new Set(heads.map((_, i) => i).filter((i) => i >= figuresFrom)));
}

const timeOf = (ns: number | null): string | null => (ns === null ? null : `${(ns / 1e9).toFixed(3)}`);

function showTakeovers(cases: TakeoverCase[]): void {
  element('name').textContent = 'How long nobody can write after a fault';
  element('verdict').textContent =
    `${count(cases.length, 'case', 'cases')}, ${count(cases.reduce((sum, one) => sum + one.runs, 0), 'run', 'runs')}.`;
  element('about').textContent =
    "A curve says in what time a share of the takeovers is over: from the fault to the new leader's first write. " +
    'The dashed curve of the same colour is T*, the shortest that any protocol that respects the lease could achieve in the same runs.';
  const protocols = distinct(cases.map((one) => one.protocol));
  const groups = distinct(cases.map((one) => `${one.fault}, ${count(one.followers, 'follower', 'followers')}, ${one.preset}`));
  for (const group of groups) {
    const of = cases.filter((one) => `${one.fault}, ${count(one.followers, 'follower', 'followers')}, ${one.preset}` === group);
    const panels = make('div', 'panels', '');
    for (const lease of distinct(of.map((one) => one.lease))) {
      const all: Series[] = [];
      for (const one of of.filter((other) => other.lease === lease)) {
        const place = protocols.indexOf(one.protocol);
        const points = (values: number[]): { x: number; y: number }[] => values.map((ns, percent) => ({ x: percent, y: Math.max(ns, 1e6) }));
        // T* of zero has no place on a logarithmic axis.
        if (one.least.some((ns) => ns > 0)) {
          all.push({ name: 'T*', place, dashed: true, points: points(one.least), about: `T* of ${one.protocol}` });
        }
        all.push({ name: one.protocol, place, dashed: false, points: points(one.first_write),
          about: `${one.protocol}: p50 ${timeOf(one.p50) ?? '-'} s, p99 ${timeOf(one.p99) ?? '-'} s` });
      }
      panels.append(make('div', '', '', make('h3', '', `lease ${lease}`), fitted(WIDE, (width) => curves(all, {
        label: `Takeover times, ${group}, lease ${lease}. The table below has the figures.`,
        x: { text: (percent) => `${percent} %`, ticks: [0, 25, 50, 75, 100] }, y: { text: timeText, ticks: null },
      }, width))));
    }
    element('plots').append(make('section', '', '', make('h2', '', group), panels));
  }
  element('plots').append(legend(['Solid: from the fault to the first write.', 'Dashed: T*.', 'From left to right: the share of takeovers that are over. Time is logarithmic.']));
  table(['protocol', 'fault', 'lease', 'preset', 'followers', 'runs', 'takeovers', 'kept', 'p50 s', 'p90 s', 'p99 s', 'max s', 'p50 / T*', 'p99 / T*'],
    cases.map((one) => [one.protocol, one.fault, one.lease, one.preset, one.followers, one.runs, one.takeovers, one.kept,
      timeOf(one.p50), timeOf(one.p90), timeOf(one.p99), timeOf(one.max), one.ratio_p50?.toFixed(3) ?? null, one.ratio_p99?.toFixed(3) ?? null]), 4);
}

function showCosts(cases: CostCase[]): void {
  element('name').textContent = 'What a lock costs, and what a takeover takes for it';
  element('verdict').textContent = `${count(cases.length, 'lease', 'leases')} of ${count(distinct(cases.map((one) => one.protocol)).length, 'protocol', 'protocols')}.`;
  element('about').textContent =
    'Each curve is one protocol with leases of different lengths: a shorter lease costs more calls, and its takeovers are shorter. ' +
    'Closer to the lower left is better. The dashed curve of the same colour is at T*, the shortest time that any protocol ' +
    'that respects the lease could achieve in the same takeovers, and costs as much.';
  const protocols = distinct(cases.map((one) => one.protocol));
  const panels = make('div', 'panels', '');
  type Time = (one: CostCase) => number | null;
  const plots: [string, Time, Time][] = [
    ['takeover, p50', (one) => one.takeover_p50, (one) => one.least_p50],
    ['takeover, p99', (one) => one.takeover_p99, (one) => one.least_p99]];
  for (const [name, of, least] of plots) {
    const points = (protocol: string, time: Time): { x: number; y: number }[] =>
      cases.filter((one) => one.protocol === protocol && (time(one) ?? 0) > 0)
        .map((one) => ({ x: time(one)!, y: one.rpcs })).sort((a, b) => a.x - b.x);
    const all = protocols.flatMap((protocol, place): Series[] => [
      { name: 'T*', place, dashed: true, about: `T* of ${protocol}`, points: points(protocol, least) },
      { name: protocol, place, dashed: false, about: protocol, points: points(protocol, of) },
    ]).filter((series) => series.points.length > 0);
    panels.append(make('div', '', '', make('h3', '', `calls per hour, by ${name}`), fitted(WIDE, (width) => curves(all, {
      label: `Calls per hour by ${name}. The table below has the figures.`,
      x: { text: timeText, ticks: null }, y: { text: numberText, ticks: null },
    }, width))));
  }
  element('plots').append(make('section', '', '', make('h2', '', 'Cost against takeovers'), panels), legend(['Solid: as measured.', 'Dashed: T*.', 'Both axes are logarithmic.']));
  table(['protocol', 'lease', 'followers', 'transactions/h', 'calls/h', 'takeover p50 s', 'p99 s', 'T* p50 s', 'T* p99 s'],
    cases.map((one) => [one.protocol, one.lease, one.followers, numberText(one.transactions), numberText(one.rpcs),
      timeOf(one.takeover_p50), timeOf(one.takeover_p99), timeOf(one.least_p50), timeOf(one.least_p99)]), 2);
}

begin(() => {
  const head = JSON.parse(headText()) as BenchHead;
  if (head.bench === 'takeover') showTakeovers(head.cases ?? []); else showCosts(head.tradeoffs ?? []);
  document.title = `${element('name').textContent ?? ''}: whorl`;
  if (head.interrupted) element('verdict').textContent += ' Interrupted: some cases are missing.';
  element('left-out').textContent = head.left_out.length === 0 ? '' : `Left out: ${head.left_out.join('; ')}.`;
  element('origin').textContent = `whorl ${head.whorl}`;
});
