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
