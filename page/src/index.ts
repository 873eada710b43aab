// An index of many runs: verdicts by scenario, protocol and invariant, time to detection, links.
import { begin, count, element, fillTable, headText, make } from './dom.js';
import { fitted, strips } from './plot.js';
import { seconds } from './run.js';

interface Violated { invariant: string; at: number; expected: boolean; promised: boolean; violations: number; text: string }
interface RunOf {
  scenario: string; about: string; protocol: string; seed: string; simulated: number;
  failures: string[]; violated: Violated[]; unknown: string[]; not_applicable: string[];
  page: string;  // relative; empty: none
}
interface IndexHead { folder: string; whorl: string; invariants: string[]; runs: RunOf[]; bad: string[] }

const VERDICTS = ['as expected', 'not as expected', 'something violated', 'nothing violated'];

function isOf(run: RunOf, verdict: number): boolean {
  if (verdict === 0) return run.failures.length === 0;
  if (verdict === 1) return run.failures.length > 0;
  return (run.violated.length > 0) === (verdict === 2);
}

function showMatrix(head: IndexHead): void {
  const protocols = [...new Set(head.runs.map((run) => run.protocol))].sort();
  const cell = (protocol: string, invariant: string): HTMLElement => {
    const runs = head.runs.filter((run) => run.protocol === protocol && !run.not_applicable.includes(invariant));
    if (runs.length === 0) return make('td', 'none', 'n/a');
    const violated = runs.flatMap((run) => run.violated.filter((one) => one.invariant === invariant));
    const unknown = runs.filter((run) => run.unknown.includes(invariant)).length;
    const text = `${violated.length} of ${runs.length}${unknown > 0 ? `, ${unknown} unknown` : ''}`;
    if (violated.length === 0) return make('td', 'none', text);
    const promised = violated.some((one) => one.promised);
    return make('td', promised ? 'failed' : 'some', `${text}${promised ? ', promised' : ''}`);
  };
  fillTable(element('matrix'), ['invariant', ...protocols],
    head.invariants.map((invariant) => [invariant, ...protocols.map((protocol) => cell(protocol, invariant))]));
}

function showTimes(head: IndexHead): void {
  const rows = head.invariants.map((name) => ({
    name,
    dots: head.runs.flatMap((run) => run.violated.filter((one) => one.invariant === name)
      .map((one) => ({ at: Math.max(1e6, one.at), about: `${run.scenario}: ${seconds(one.at)} s` }))),
  })).filter((row) => row.dots.length > 0);
  element('times-section').hidden = rows.length === 0;
  if (rows.length > 0) element('times').append(fitted(760, (width) => strips(rows, 'Time to detection by invariant; the table of runs has the times.', width)));
}

class Runs {
  private protocol = -1; private invariant = -1; private verdict = -1; private query = '';
  private readonly protocols: string[];
  constructor(private readonly head: IndexHead) {
    this.protocols = [...new Set(head.runs.map((run) => run.protocol))].sort();
    this.fill('filter-protocol', this.protocols, (i) => { this.protocol = i; });
    this.fill('filter-invariant', head.invariants, (i) => { this.invariant = i; });
    this.fill('filter-verdict', VERDICTS, (i) => { this.verdict = i; });
    const search = element<HTMLInputElement>('search');
    search.addEventListener('input', () => { this.query = search.value.trim().toLowerCase(); this.show(); });
    element('filters').addEventListener('submit', (event) => event.preventDefault());
    this.show();
  }
  private fill(id: string, names: string[], set: (i: number) => void): void {
    const select = element<HTMLSelectElement>(id);
    select.append(new Option('all', '-1'), ...names.map((name, i) => new Option(name, String(i))));
    select.addEventListener('change', () => { set(Number(select.value)); this.show(); });
  }
  private passes(run: RunOf): boolean {
    if (this.protocol >= 0 && run.protocol !== this.protocols[this.protocol]) return false;
    if (this.invariant >= 0 && !run.violated.some((one) => one.invariant === this.head.invariants[this.invariant])) return false;
    if (this.verdict >= 0 && !isOf(run, this.verdict)) return false;
    return `${run.scenario} ${run.about}`.toLowerCase().includes(this.query);
  }
  private show(): void {
    const runs = this.head.runs.filter((run) => this.passes(run));
    element('shown').textContent = `${runs.length} of ${count(this.head.runs.length, 'run', 'runs')} shown.`;
    fillTable(element('runs'), ['run', 'protocol', 'verdict', 'violated', 'first at, s', 'about'], runs.map((run) => this.row(run)), new Set([4]));
  }
  private row(run: RunOf): (HTMLElement | string)[] {
    let name: HTMLElement | string = run.scenario;
    if (run.page !== '') {
      const anchor = document.createElement('a');
      anchor.href = run.page;
      anchor.textContent = run.scenario;
      name = anchor;
    }
    const ok = run.failures.length === 0;
    const verdict = make('td', ok ? 'held' : 'failed', ok ? 'as expected' : `not as expected: ${run.failures.join('; ')}`);
    const violated = make('td', '', '', ...run.violated.map((one) =>
      make('div', one.expected ? '' : 'failed', `${one.invariant}${one.promised ? ' (promised)' : ''}`)));
    if (run.violated.length === 0) violated.textContent = run.unknown.length === 0 ? '-' : `- (unknown: ${run.unknown.join(', ')})`;
    const times = make('td', '', '', ...run.violated.map((one) => make('div', '', seconds(one.at))));
    return [name, run.protocol, verdict, violated, times, run.about];
  }
}

// First whether a promise was broken, as that is what a reader fears.
function verdictText(head: IndexHead): string {
  const broken = head.runs.filter((run) => run.violated.some((one) => one.promised)).length;
  const violated = head.runs.filter((run) => run.violated.length > 0).length;
  const failed = head.runs.filter((run) => run.failures.length > 0).length;
  return (broken === 0 ? 'No promise was broken' : `Promises were broken in ${broken} of the runs`) +
    `: ${count(head.runs.length, 'run', 'runs')}, ${head.runs.length - failed} as expected${failed > 0 ? `, ${failed} not` : ''}; ` +
    (violated === broken ? '' : `in ${violated - broken} something was violated that is not promised there.`) +
    (head.bad.length > 0 ? ` ${count(head.bad.length, 'file', 'files')} could not be read: ${head.bad.join(', ')}.` : '');
}

begin(() => {
  const head = JSON.parse(headText()) as IndexHead;
  document.title = `${head.folder}: runs, whorl`;
  element('name').textContent = `Runs of ${head.folder}`;
  const isBad = head.runs.some((run) => run.failures.length > 0 || run.violated.some((one) => one.promised && !one.expected));
  element('verdict').className = isBad ? 'bad' : 'good';
  element('verdict').textContent = verdictText(head);
  showMatrix(head);
  showTimes(head);
  new Runs(head);
  element('origin').textContent = `whorl ${head.whorl}`;
});
