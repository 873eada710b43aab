// Wires the playground: the scenario is sent to the server that this page came from whenever it changes, and its run is
// shown in a frame. Whatever comes back becomes text, never markup.
import { begin, element, headText, make } from './dom.js';
import { wordsAt } from './words.js';
import type { Schema } from './words.js';

interface Head { starts: { words: string; about: string }[]; protocols: string[] }
interface Violated { invariant: string; promise: string; at: string; text: string }
interface Answer {
  errors?: string[]; text?: string; path?: string; about?: string; runs?: number;
  head?: string; good?: boolean; violated?: Violated[]; failures?: string[]; warnings?: string[]; story?: string[];
}

const PAUSE_MS = 250;  // after the last key
const token = new URLSearchParams(location.search).get('token') ?? '';
const text = element<HTMLTextAreaElement>('text');
const said = element('said');
let schema: Schema = {};
let asked = 0;           // the number of the last question about the scenario
let before = '';         // what "Make it fail" has replaced
let timer = 0;

async function ask(path: string, body: Record<string, string>): Promise<Answer> {
  try {
    const response = await fetch(path, { method: 'POST', headers: { 'X-Whorl-Token': token }, body: JSON.stringify(body) });
    return await response.json() as Answer;
  } catch {
    return { errors: ['whorl play does not answer: was it ended?'] };
  }
}

function say(words: string): void { said.textContent = words; }

// Where an error of the loader is: "scenario:3: /faults: ...".
function lineOf(error: string): number | null {
  const found = /^scenario:(\d+)/.exec(error);
  return found === null ? null : Number(found[1]);
}

function goToLine(line: number): void {
  const lines = text.value.split('\n');
  const from = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  text.focus();
  text.setSelectionRange(from, from + (lines[line - 1] ?? '').length);
}

function showErrors(errors: string[]): void {
  element('errors').replaceChildren(...errors.map((error) => {
    const line = lineOf(error);
    const words = error.replace(/^scenario:(\d+): */, 'line $1: ');
    if (line === null) return make('li', 'violated', words);
    const button = make('button', 'violated', words) as HTMLButtonElement;
    button.type = 'button';
    button.addEventListener('click', () => { goToLine(line); });
    return make('li', '', '', button);
  }));
  text.setAttribute('aria-invalid', String(errors.length > 0));
}

function showRun(answer: Answer): void {
  const verdict = element('verdict');
  verdict.className = answer.good === true ? 'good' : 'bad';
  verdict.replaceChildren(make('span', '', answer.head ?? ''));
  for (const one of answer.violated ?? []) {
    verdict.append(make('span', 'also', `${one.invariant} at ${one.at} s: ${one.text}`, make('small', '', ` (${one.promise})`)));
  }
  for (const one of answer.warnings ?? []) verdict.append(make('small', '', `Warning: ${one}`));
  element('explained').hidden = (answer.violated ?? []).length === 0;
  element('story').textContent = (answer.story ?? []).join('\n');
  element<HTMLIFrameElement>('run').src = `/run?token=${token}&number=${asked}`;
}

async function run(): Promise<void> {
  const number = ++asked;
  const answer = await ask('/run', { text: text.value });
  if (number !== asked) return;  // the scenario has changed since
  showErrors(answer.errors ?? []);
  document.body.classList.toggle('stale', answer.errors !== undefined);
  if (answer.errors === undefined) showRun(answer);
  document.documentElement.dataset['run'] = String(number);
}

function numberLines(): void {
  const count = text.value.split('\n').length;
  element('numbers').textContent = Array.from({ length: count }, (_, i) => i + 1).join('\n');
  element('numbers').scrollTop = text.scrollTop;
}

function changed(): void {
  numberLines();
  suggest();
  window.clearTimeout(timer);
  timer = window.setTimeout(() => { void run(); }, PAUSE_MS);
}

function put(words: string): void {
  text.value = words;
  text.setSelectionRange(0, 0);
  changed();
}

// --- words that fit ----------------------------------------------------------------------------

function insert(from: number, word: string): void {
  const at = text.selectionStart;
  const to = text.value[from] === '"' && text.value[at] === '"' ? at + 1 : at;  // the quote that ends it
  text.focus();
  text.setSelectionRange(from, to);
  // So that the browser's own undo takes it back.
  if (!document.execCommand('insertText', false, word)) text.setRangeText(word, from, to, 'end');
  changed();
}

function suggest(): void {
  const { from, words } = wordsAt(schema, text.value, text.selectionStart);
  const MOST = 24;
  element('words').replaceChildren(...words.slice(0, MOST).map(({ word, about }) => {
    const button = make('button', '', word) as HTMLButtonElement;
    button.type = 'button';
    button.title = about;
    button.addEventListener('click', () => { insert(from, word); });
    return make('li', '', '', button);
  }));
}

function onKey(event: KeyboardEvent): void {
  if (!event.ctrlKey || event.key !== ' ') return;
  event.preventDefault();
  suggest();
  const { from, words } = wordsAt(schema, text.value, text.selectionStart);
  if (words[0] !== undefined) insert(from, words[0].word);
}

// --- buttons -----------------------------------------------------------------------------------

async function start(): Promise<void> {
  const answer = await ask('/start', {
    words: element<HTMLSelectElement>('start').value, protocol: element<HTMLSelectElement>('protocol').value });
  if (answer.text !== undefined) put(answer.text);
  say((answer.errors ?? []).join('\n'));
}

async function hunt(): Promise<void> {
  const button = element<HTMLButtonElement>('hunt');
  button.disabled = true;
  say('Looking for a run that violates something ..');
  const answer = await ask('/hunt', { text: text.value });
  button.disabled = false;
  if (answer.errors !== undefined) return say(answer.errors.join('\n'));
  if (answer.text === undefined) return say(`Nothing was violated in ${answer.runs} runs around this scenario.`);
  before = text.value;
  element<HTMLButtonElement>('undo').disabled = false;
  put(answer.text);
  say(`Found in ${answer.runs} runs, and made small: ${answer.about ?? ''}.`);
}

async function save(): Promise<void> {
  const answer = await ask('/save', { name: element<HTMLInputElement>('name').value, text: text.value });
  say(answer.path === undefined ? (answer.errors ?? []).join('\n') : `Saved as ${answer.path}.`);
}

begin(async () => {
  const head = JSON.parse(headText()) as Head;
  document.title = 'whorl play';
  const option = (value: string): HTMLElement => make('option', '', value);
  element('start').append(...head.starts.map((one) => {
    const made = option(one.words);
    made.title = one.about;
    return made;
  }));
  element('protocol').append(...head.protocols.map(option));
  const recommended = 'fenced_lease';
  if (head.protocols.includes(recommended)) element<HTMLSelectElement>('protocol').value = recommended;
  const pause = 'a long pause';
  if (head.starts.some((one) => one.words === pause)) element<HTMLSelectElement>('start').value = pause;
  const on = (id: string, event: string, act: () => Promise<void> | void): void => {
    element(id).addEventListener(event, (happened) => {
      if (event === 'submit') happened.preventDefault();
      void act();
    });
  };
  on('begin', 'submit', start);
  on('keep', 'submit', save);
  on('hunt', 'click', hunt);
  on('undo', 'click', () => { put(before); say('This is what you had.'); });
  on('text', 'input', changed);
  on('text', 'click', suggest);
  on('text', 'keyup', suggest);
  on('text', 'scroll', numberLines);
  text.addEventListener('keydown', onKey);
  const response = await fetch(`/schema?token=${token}`);
  if (response.ok) schema = await response.json() as Schema;
  await start();
});
