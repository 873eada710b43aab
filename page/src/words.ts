// Finds the words that fit at a place of a scenario's text, by the JSON Schema of scenarios. The text need not be whole.

export interface Schema {
  $ref?: string; $defs?: Record<string, Schema>; description?: string; properties?: Record<string, Schema>;
  items?: Schema; enum?: unknown[]; const?: unknown; anyOf?: Schema[]; oneOf?: Schema[]; allOf?: Schema[];
  if?: Schema; then?: Schema; else?: Schema; type?: string | string[]; examples?: unknown[];
  patternProperties?: Record<string, Schema>; additionalProperties?: boolean | Schema;
}
export interface Fitting { word: string; about: string }

// Where the caret is: the keys and places on the way there, whether a key or a value stands there, what of it there
// is, and the keys that its object has already.
interface Place { path: (string | number)[]; isKey: boolean; from: number; typed: string; taken: string[] }

interface Level { isObject: boolean; key: string | null; index: number; taken: string[] }

export function placeAt(text: string, caret: number): Place {
  const levels: Level[] = [];
  let from = caret;       // where the word begins that the caret is in
  let isInString = false;
  let stringFrom = 0;
  let afterColon = false;
  let word = '';
  for (let i = 0; i < caret; ++i) {
    const c = text[i]!;
    const level = levels.at(-1);
    if (isInString) {
      if (c === '\\') { ++i; continue; }
      if (c !== '"') continue;
      isInString = false;
      word = text.slice(stringFrom + 1, i);
      if (level?.isObject === true && !afterColon) { level.key = word; level.taken.push(word); }
      continue;
    }
    if (c === '"') {
      isInString = true;
      stringFrom = i;
    } else if (c === '{' || c === '[') {
      levels.push({ isObject: c === '{', key: null, index: 0, taken: [] });
      afterColon = false;
    } else if (c === '}' || c === ']') {
      levels.pop();
      afterColon = levels.at(-1)?.isObject === true;
    } else if (c === ':') {
      afterColon = true;
    } else if (c === ',' && level !== undefined) {
      ++level.index;
      afterColon = false;
    }
  }
  if (isInString) from = stringFrom;
  while (!isInString && from > 0 && /[\w.-]/.test(text[from - 1]!)) --from;
  const path: (string | number)[] = [];
  for (const level of levels.slice(0, -1)) path.push(level.isObject ? level.key ?? '' : level.index);
  const last = levels.at(-1);
  const isKey = last?.isObject === true && !afterColon;
  if (last !== undefined && !isKey) path.push(last.isObject ? last.key ?? '' : last.index);
  return { path, isKey, from, typed: text.slice(from, caret).replace(/^"/, ''), taken: last?.taken ?? [] };
}

// The schema itself, those that it refers to, and its alternatives.
function all(root: Schema, schema: Schema, depth = 0): Schema[] {
  if (depth > 8) return [];
  const found = [schema];
  if (schema.$ref?.startsWith('#/$defs/') === true) {
    const named = root.$defs?.[schema.$ref.slice('#/$defs/'.length)];
    if (named !== undefined) found.push(...all(root, named, depth + 1));
  }
  for (const other of [...schema.anyOf ?? [], ...schema.oneOf ?? [], ...schema.allOf ?? []]) found.push(...all(root, other, depth + 1));
  for (const other of [schema.then, schema.else]) if (other !== undefined) found.push(...all(root, other, depth + 1));
  return found;
}

function below(root: Schema, schemas: Schema[], step: string | number): Schema[] {
  const found: Schema[] = [];
  for (const schema of schemas) {
    const next = typeof step === 'number' ? schema.items : schema.properties?.[step];
    if (next !== undefined) found.push(...all(root, next));
  }
  return found;
}

// `from`: where what is typed of the word begins. Words have their quotes.
export function wordsAt(root: Schema, text: string, caret: number): { from: number; words: Fitting[] } {
  const place = placeAt(text, caret);
  let schemas = all(root, root);
  for (const step of place.path) schemas = below(root, schemas, step);
  const words = new Map<string, string>();
  for (const schema of schemas) {
    if (place.isKey) {
      for (const [key, value] of Object.entries(schema.properties ?? {})) {
        const about = [value, ...all(root, value)].map((one) => one.description).find((one) => one !== undefined);
        if (!place.taken.includes(key) && !words.has(key)) words.set(key, about ?? '');
      }
      continue;
    }
    for (const value of [...schema.enum ?? [], ...(schema.const === undefined ? [] : [schema.const])]) {
      const word = typeof value === 'string' ? value : JSON.stringify(value);
      if (!words.has(word)) words.set(word, schema.description ?? '');
    }
  }
  const fitting = [...words].filter(([word]) => word.startsWith(place.typed) && word !== place.typed && !word.startsWith('$'))
    .map(([word, about]) => ({ word: place.isKey || isText(schemas, word) ? JSON.stringify(word) : word, about }));
  return { from: place.from, words: fitting };
}

function isText(schemas: Schema[], word: string): boolean {
  return schemas.some((schema) => [...schema.enum ?? [], schema.const].some((value) => value === word));
}
