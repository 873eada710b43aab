// Elements of a page. Texts become text (textContent), never markup.

export const element = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;

export function make(tag: string, className: string, text: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  if (text !== '') made.textContent = text;
  made.append(...children);
  return made;
}

// A cell that is the head of its row or column.
export function headCell(scope: 'row' | 'col', text: string): HTMLElement {
  const cell = make('th', '', text);
  cell.setAttribute('scope', scope);
  return cell;
}

// Fills a table. Where there is no room for its columns, each row becomes a block in which every cell says the head
// of its column (page.css, `cards`); the roles say that it is a table still. A text is a cell; of each row the first
// is its head, and `figures` are the columns of numbers.
export function fillTable(table: HTMLElement, heads: string[], rows: (HTMLElement | string)[][], figures = new Set<number>()): void {
  const role = (name: string, made: HTMLElement): HTMLElement => { made.setAttribute('role', name); return made; };
  const headOf = (text: string, i: number): HTMLElement => {
    const cell = role('columnheader', headCell('col', text));
    if (figures.has(i)) cell.className = 'figure';
    return cell;
  };
  const cellOf = (content: HTMLElement | string, i: number): HTMLElement => {
    const given = typeof content === 'string' ? null : content;
    const isCell = given !== null && /^T[DH]$/.test(given.tagName);
    const cell = isCell ? given : i === 0 ? headCell('row', '') : make('td', '', '');
    if (!isCell) cell.append(content);
    if (figures.has(i)) cell.classList.add('figure');
    cell.dataset['head'] = heads[i] ?? '';
    return role(cell.tagName === 'TH' ? 'rowheader' : 'cell', cell);
  };
  role('table', table).replaceChildren(
    role('rowgroup', make('thead', '', '', role('row', make('tr', '', '', ...heads.map(headOf))))),
    role('rowgroup', make('tbody', '', '', ...rows.map((cells) => role('row', make('tr', '', '', ...cells.map(cellOf)))))));
}

export function count(number: number, one: string, many: string): string { return `${number} ${number === 1 ? one : many}`; }

// The JSON of a page's head.
export function headText(): string { return element('head').textContent ?? ''; }

// Starts a page, and says so: tests wait for it. What fails is told to the reader.
export function begin(start: () => Promise<void> | void): void {
  const run = async (): Promise<void> => {
    await start();
    performance.mark('whorl-drawn');
    document.documentElement.dataset['ready'] = 'true';
  };
  run().catch((error: unknown) => {
    element('verdict').textContent = `This page cannot show its data: ${String(error)}`;
    throw error;
  });
}
