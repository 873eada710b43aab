// Reads the data of a page as sim/report/page_model.h and page_tables.h write it.

export interface ColumnPlace { name: string; rows: number; dictionary?: number; at: number; bytes: number }
export interface TablePlace { name: string; rows: number; columns: ColumnPlace[] }
export interface DictionaryPlace { texts: number; at: number; bytes: number }

export interface Invariant {
  name: string; verdict: string; violations: number;
  promised: string; expects: string;  // "holds", "violated", or nothing
  event?: number; at?: number; text?: string; promise?: string; findings?: string;
  unknown_because?: string;
}
// What became of the run, in one sentence: sim/report/headline.h.
export interface Headline { text: string; tone: string; event: number }
export interface TimelineLine { event: number; at: number; node: number; tone: string; text: string }
export interface StoryLine { at: number; who: string; text: string }
// When the violation of the story was decided: sim/measure/decision.h.
export interface Decision {
  invariant: string; text: string;
  moments: { at: number; continuations: number; violated: number }[];
  jumps: { moment: number; event: number; text: string }[];
}
export interface Head {
  format: number; whorl: string; command: string;
  from_trace?: boolean;  // sim/report/trace_diff.h: there are no verdicts, no story, no holders of rows
  recorded?: boolean;  // check/history_report.h: others recorded it; times are likely ones
  on: string;  // what a real run ran on; empty: it was simulated
  scenario: {
    name: string; start: string; about: string; protocol: string; duration: number; epsilon: number;
    locks: string[];
    nodes: { name: string; lease: string; clock_offset: number; clock_ppm: number }[];
    faults: { text: string; node: number; line: number }[];
  };
  result: {
    seed: string; hash: string; simulated: number; judged: boolean; failures: string[]; records?: string[];  // of a recorded history
    metrics: Record<string, unknown>; invariants: Invariant[];
  };
  headline?: Headline;  // of a run that was judged
  story: { invariant: string; at: number; head: string; lines: StoryLine[]; left_out: number; end: string };
  decision?: Decision;  // if something was violated in a simulated run
  timeline: TimelineLine[]; timeline_left_out: number;
  events_of?: Record<string, number[]>;  // the events that a metric counts
  kinds: string[];
  data: { dictionaries: DictionaryPlace[]; tables: TablePlace[] };
}

export const FORMAT = 2;

// A column as numbers: of a column of texts, their numbers in the dictionary.
function decode(bytes: Uint8Array, place: ColumnPlace, rows: number): Float64Array {
  const values = new Float64Array(rows);
  let at = place.at, value = 0;
  for (let row = 0; row < place.rows; ++row) {
    let byte = bytes[at++]!;
    let low = byte & 0x7f;
    if (byte >= 0x80) {
      // Beyond 28 bits by multiplication, as bit operations end at 32.
      let scale = 128;
      do {
        byte = bytes[at++]!;
        low += (byte & 0x7f) * scale;
        scale *= 128;
      } while (byte >= 0x80);
    }
    value += low % 2 === 0 ? low / 2 : -(low + 1) / 2;
    values[row] = value;
  }
  return values;
}

export class Column {
  constructor(readonly values: Float64Array, private readonly texts: string[] | null) {}
  number(row: number): number { return this.values[row]!; }
  // The JSON of a cell; empty if the observation has no such field.
  json(row: number): string { return this.texts?.[this.values[row]!] ?? ''; }
  get dictionary(): readonly string[] { return this.texts ?? []; }
}

export class Table {
  private readonly columns = new Map<string, Column>();
  constructor(private readonly data: Data, private readonly place: TablePlace) {}
  get rows(): number { return this.place.rows; }
  get names(): string[] { return this.place.columns.map((column) => column.name); }
  // Null if no row has the column. Read when it is first asked for.
  column(name: string): Column | null {
    const known = this.columns.get(name);
    if (known !== undefined) return known;
    const place = this.place.columns.find((column) => column.name === name);
    if (place === undefined) return null;
    const texts = place.dictionary === undefined ? null : this.data.dictionary(place.dictionary);
    const column = new Column(decode(this.data.bytes, place, this.rows), texts);
    this.columns.set(name, column);
    return column;
  }
  numbers(name: string): Float64Array { return this.column(name)?.values ?? new Float64Array(this.rows); }
}

export class Data {
  private readonly tables = new Map<string, Table>();
  private readonly dictionaries: (string[] | undefined)[] = [];
  constructor(private readonly head: Head, readonly bytes: Uint8Array) {
    for (const place of head.data.tables) this.tables.set(place.name, new Table(this, place));
  }
  table(name: string): Table {
    return this.tables.get(name) ?? new Table(this, { name, rows: 0, columns: [] });
  }
  dictionary(number: number): string[] {
    const known = this.dictionaries[number];
    if (known !== undefined) return known;
    const place = this.head.data.dictionaries[number]!;
    const text = new TextDecoder().decode(this.bytes.subarray(place.at, place.at + place.bytes));
    return (this.dictionaries[number] = text.split('\n'));
  }
}

export function readHead(text: string): Head { return checked(JSON.parse(text) as Head); }
export function checked(head: Head): Head {
  if (head.format !== FORMAT) throw new Error(`the data has format ${head.format}, this page reads ${FORMAT}`);
  return head;
}

export async function readBytes(base64: string): Promise<Uint8Array> {
  const packed = atob(base64);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; ++i) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
