// The run that a page shows: its events with their times, owners and texts. Events are named by their
// ordinals, from 1, as in a trace; arrays here begin at 0.
import { Column, Data, Head, Table, TimelineLine } from './data.js';

export interface Span { from: number; to: number; lock: number }
export interface Version { event: number; at: number; held: boolean; node: number; token: string; leaseUntil: number }
export interface Violation { event: number; at: number; invariant: string }
export interface Fault { fault: number; from: number; to: number; text: string; node: number }
// Times of one node's calls, in the order of being sent; NaN where a call was not served or ended.
export interface Calls {
  event: Int32Array; sent: Float64Array; served: Float64Array; ended: Float64Array;
}
export interface Writes { accepted: Float64Array; refused: Float64Array }

export const SPANS = ['up', 'paused', 'believes', 'works', 'cut_to', 'cut_from'] as const;
export type SpanKind = (typeof SPANS)[number];

// The first index whose value is not below `wanted`.
export function lowerBound(sorted: ArrayLike<number>, wanted: number): number {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < wanted) low = middle + 1; else high = middle;
  }
  return low;
}

export function seconds(ns: number): string { return (ns / 1e9).toFixed(6); }

const TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z/g;

// Text of a field's JSON for people: times of rows as seconds since the start.
export class Words {
  private readonly startMs: number;
  constructor(start: string) { this.startMs = Date.parse(start.slice(0, 19) + 'Z'); }
  of(json: string): string {
    if (json === '') return '';
    const value: unknown = JSON.parse(json);
    if (typeof value !== 'string') return value === null ? 'none' : typeof value === 'object' ? json : String(value);
    const whole = new RegExp(`^${TIME.source}$`).exec(value);
    return whole === null ? this.within(value) : `${this.seconds(whole[1]!, whole[2])} s`;
  }
  // A sentence with its times as seconds since the start.
  within(text: string): string {
    return text.replace(TIME, (_, time: string, fraction?: string) => this.seconds(time, fraction));
  }
  private seconds(time: string, fraction = ''): string {
    const whole = (Date.parse(`${time}Z`) - this.startMs) / 1000;
    return `${whole}.${fraction.padEnd(9, '0').slice(0, 9).replace(/0{1,3}$/, '')}`;
  }
}

export class Run {
  readonly at: Float64Array;
  readonly kind: Uint8Array;
  readonly row: Int32Array;    // in the table of its kind
  readonly node: Int16Array;   // -1: none
  readonly lock: Int16Array;
  readonly step: Int16Array;
  readonly steps: string[] = [];
  readonly lines = new Map<number, TimelineLine[]>();
  readonly violations: Violation[] = [];
  readonly violating = new Map<number, Violation[]>();
  readonly faults: Fault[] = [];
  readonly end: number;
  readonly words: Words;
  private readonly tables: Table[];

  constructor(readonly head: Head, readonly data: Data) {
    const events = data.table('events');
    const count = events.rows;
    this.at = events.numbers('at');
    this.kind = Uint8Array.from(events.numbers('kind'));
    this.row = new Int32Array(count);
    this.node = new Int16Array(count).fill(-1);
    this.lock = new Int16Array(count).fill(-1);
    this.step = new Int16Array(count).fill(-1);
    this.tables = head.kinds.map((kind) => data.table(kind));
    this.end = Math.max(head.result.simulated, count === 0 ? 1 : this.at[count - 1]!, 1);
    this.words = new Words(head.scenario.start);
    this.place();
    for (const line of head.timeline) {
      const known = this.lines.get(line.event);
      if (known === undefined) this.lines.set(line.event, [line]); else known.push(line);
    }
    this.readViolations();
    this.readFaults();
  }

  get count(): number { return this.at.length; }
  nodeName(node: number): string { return this.head.scenario.nodes[node]?.name ?? ''; }
  lockName(lock: number): string { return this.head.scenario.locks[lock] ?? ''; }
  timeOf(event: number): number { return event === 0 ? this.end : this.at[event - 1]!; }
  kindOf(event: number): string { return this.head.kinds[this.kind[event - 1]!] ?? ''; }

  // Fills row, node, lock and step of all events.
  private place(): void {
    const { nodes, locks, faults } = this.head.scenario;
    const nodeOf = new Map(nodes.map((node, i) => [node.name, i]));
    const lockOf = new Map(locks.map((lock, i) => [lock, i]));
    const stepOf = new Map<string, number>();
    const numbers = (column: Column | null, of: (text: string) => number): { values: Float64Array; map: Int16Array } | null =>
      column === null ? null : {
        values: column.values,
        map: Int16Array.from(column.dictionary, (json) => {
          const text: unknown = json === '' ? null : JSON.parse(json);
          return typeof text === 'string' ? of(text) : -1;
        }),
      };
    const places = this.tables.map((table) => {
      const first = (...names: string[]): Column | null => {
        for (const name of names) { const column = table.column(name); if (column !== null) return column; }
        return null;
      };
      return {
        node: numbers(first('process', 'writer', 'call.process', 'node'), (text) =>
          nodeOf.get(text) ?? nodeOf.get(text.slice(0, Math.max(0, text.lastIndexOf('#')))) ?? -1),
        lock: numbers(first('lock', 'call.lock'), (text) => lockOf.get(text) ?? -1),
        step: numbers(first('step'), (text) => {
          const known = stepOf.get(text);
          if (known !== undefined) return known;
          stepOf.set(text, this.steps.length);
          return this.steps.push(text) - 1;
        }),
        fault: table.column('fault'),
      };
    });
    const next = new Int32Array(this.tables.length);
    for (let i = 0; i < this.count; ++i) {
      const kind = this.kind[i]!;
      const row = next[kind]!++;
      const place = places[kind]!;
      this.row[i] = row;
      if (place.node !== null) this.node[i] = place.node.map[place.node.values[row]!]!;
      if (place.lock !== null) this.lock[i] = place.lock.map[place.lock.values[row]!]!;
      if (place.step !== null) this.step[i] = place.step.map[place.step.values[row]!]!;
      if (place.fault !== null) {
        this.node[i] = Math.max(-1, faults[Number(place.fault.json(row))]?.node ?? -1);
      }
    }
  }

  private readViolations(): void {
    const table = this.data.table('violations');
    const event = table.numbers('event'), at = table.numbers('at'), invariant = table.numbers('invariant');
    for (let i = 0; i < table.rows; ++i) {
      const violation = {
        event: event[i]!, at: at[i]!, invariant: this.head.result.invariants[invariant[i]!]?.name ?? '',
      };
      this.violations.push(violation);
      const known = this.violating.get(violation.event);
      if (known === undefined) this.violating.set(violation.event, [violation]); else known.push(violation);
    }
  }

  private readFaults(): void {
    const table = this.data.table('faults');
    const fault = table.numbers('fault'), from = table.numbers('from'), to = table.numbers('to');
    for (let i = 0; i < table.rows; ++i) {
      const spec = this.head.scenario.faults[fault[i]!];
      this.faults.push({
        fault: fault[i]!, from: this.timeOf(from[i]!), to: this.timeOf(to[i]!),
        text: spec?.text ?? '', node: spec?.node ?? -1,
      });
    }
  }

  // By node.
  spans(kind: SpanKind): Span[][] {
    const all: Span[][] = this.head.scenario.nodes.map(() => []);
    const table = this.data.table('spans');
    const kinds = table.numbers('kind'), node = table.numbers('node'), lock = table.numbers('lock');
    const from = table.numbers('from'), to = table.numbers('to');
    const wanted = SPANS.indexOf(kind);
    for (let i = 0; i < table.rows; ++i) {
      if (kinds[i] !== wanted) continue;
      all[node[i]!]?.push({ from: this.timeOf(from[i]!), to: this.timeOf(to[i]!), lock: lock[i]! });
    }
    return all;
  }

  // By node.
  calls(): Calls[] {
    const table = this.data.table('calls');
    const sent = table.numbers('sent'), served = table.numbers('served'), ended = table.numbers('ended');
    const counts = this.head.scenario.nodes.map(() => 0);
    const nodeOf = (i: number): number => this.node[sent[i]! - 1]!;
    for (let i = 0; i < table.rows; ++i) { const node = nodeOf(i); if (node >= 0) counts[node]!++; }
    const all = counts.map((count): Calls => ({
      event: new Int32Array(count), sent: new Float64Array(count), served: new Float64Array(count),
      ended: new Float64Array(count),
    }));
    const next = counts.map(() => 0);
    for (let i = 0; i < table.rows; ++i) {
      const node = nodeOf(i);
      const calls = all[node];
      if (calls === undefined) continue;
      const place = next[node]!++;
      const event = sent[i]!;
      calls.event[place] = event;
      calls.sent[place] = this.timeOf(event);
      calls.served[place] = served[i] === 0 ? NaN : this.timeOf(event + served[i]!);
      calls.ended[place] = ended[i] === 0 ? NaN : this.timeOf(event + ended[i]!);
    }
    return all;
  }

  // By lock.
  versions(): Version[][] {
    const all: Version[][] = this.head.scenario.locks.map(() => []);
    const table = this.data.table('versions');
    const event = table.numbers('event'), lock = table.numbers('lock'), held = table.numbers('held');
    const node = table.numbers('node'), lease = table.numbers('lease_until');
    const token = table.column('token');
    for (let i = 0; i < table.rows; ++i) {
      all[lock[i]!]?.push({
        event: event[i]!, at: this.timeOf(event[i]!), held: held[i] === 1, node: node[i]!,
        token: token?.json(i) ?? '', leaseUntil: lease[i]!,
      });
    }
    return all;
  }

  // By lock; of each, to the resource that does not fence, and to the one that does.
  writes(): Writes[][] {
    const lists = (): number[][] => this.head.scenario.locks.flatMap((): number[][] => [[], []]);
    const accepted = lists(), refused = lists();
    const kind = this.head.kinds.indexOf('write_arrived');
    const answer = this.data.table('write_arrived').column('accepted');
    for (let i = 0; kind >= 0 && i < this.count; ++i) {
      if (this.kind[i] !== kind) continue;
      const to = answer?.json(this.row[i]!) === 'true' ? accepted : refused;
      to[2 * this.lock[i]! + (this.fencedWrite(i + 1) ? 1 : 0)]?.push(this.at[i]!);
    }
    return this.head.scenario.locks.map((_, lock) => [0, 1].map((fenced) => ({
      accepted: Float64Array.from(accepted[2 * lock + fenced]!),
      refused: Float64Array.from(refused[2 * lock + fenced]!),
    })));
  }

  // Of a write that arrived: whether it went to the resource that fences.
  fencedWrite(event: number): boolean {
    return this.tables[this.kind[event - 1]!]!.column('fenced')?.json(this.row[event - 1]!) === 'true';
  }

  // The events that the metric counts.
  eventsOf(metric: string): number[] { return this.head.events_of?.[metric] ?? []; }

  // Stale writes that a resource accepted without looking at their tokens.
  staleAccepted(lock: number, fenced: boolean): number[] {
    return this.eventsOf('stale_write_accepted').filter((event) =>
      this.lock[event - 1] === lock && this.fencedWrite(event) === fenced);
  }

  // Times of commits.
  commits(): Float64Array {
    // Of a recorded history only the rows' changes are known.
    const kind = this.head.kinds.indexOf(this.head.recorded === true ? 'row_committed' : 'transaction_committed');
    const times: number[] = [];
    for (let i = 0; kind >= 0 && i < this.count; ++i) if (this.kind[i] === kind) times.push(this.at[i]!);
    return Float64Array.from(times);
  }

  // The fields of an event, each with its text.
  fields(event: number): [string, string][] {
    const kind = this.kind[event - 1]!, row = this.row[event - 1]!;
    const table = this.tables[kind]!;
    const fields: [string, string][] = [];
    for (const name of table.names) {
      const json = table.column(name)!.json(row);
      if (json !== '') fields.push([name, this.words.of(json)]);
    }
    return fields;
  }

  // One line.
  text(event: number): string {
    const violations = (this.violating.get(event) ?? []).map((one) => `${one.invariant} violated. `).join('');
    const lines = (this.lines.get(event) ?? []).filter((line) => !line.text.startsWith('!! '));
    const who = this.nodeName(this.node[event - 1]!);
    if (lines.length > 0) {
      return violations + lines.map((line) => (line.node >= 0 ? `${this.nodeName(line.node)}: ` : '') + line.text).join('; ');
    }
    // Of a recorded history, a violation is an event of its own.
    const told = this.fields(event).find(([name]) => name === 'text');
    if (violations !== '' && told !== undefined) return violations + told[1];
    const hidden = /^(process|writer|node|before\.|after\.|call\.|commit$)/;
    const fields = this.fields(event).filter(([name]) => !hidden.test(name))
      .filter(([name]) => name !== 'lock' || this.head.scenario.locks.length > 1)
      .map(([name, text]) => (name === 'step' ? text : `${name.replaceAll('_', ' ')} ${text}`));
    return `${violations}${who === '' ? '' : `${who}: `}${this.kindOf(event).replaceAll('_', ' ')}` +
      (fields.length === 0 ? '' : `, ${fields.join(', ')}`);
  }

  // The last event of that kind at or before `event` for which `wanted` says yes; 0 if there is none.
  lastBefore(event: number, kind: string, wanted: (event: number) => boolean): number {
    const number = this.head.kinds.indexOf(kind);
    if (number < 0) return 0;
    for (let i = event; i > 0; --i) if (this.kind[i - 1] === number && wanted(i)) return i;
    return 0;
  }

  // The event that a line of the story is about: of those at its time, the first of its process.
  eventAt(at: number, who: string): number {
    const first = lowerBound(this.at, at);
    for (let i = first; i < this.count && this.at[i] === at; ++i) {
      const name = this.nodeName(this.node[i]!);
      if (name !== '' && (name === who || who.startsWith(`${name}#`)) && this.lines.has(i + 1)) return i + 1;
    }
    for (let i = first; i < this.count && this.at[i] === at; ++i) {
      const name = this.nodeName(this.node[i]!);
      if (name !== '' && (name === who || who.startsWith(`${name}#`))) return i + 1;
    }
    return Math.min(first + 1, this.count);
  }
}
