// Pointing at a picture: dragging moves it, the wheel zooms, hovering tells of the nearest event, and a
// click chooses it.
import type { Picture } from './picture.js';

export interface Pointing {
  passes(event: number): boolean;  // of the filters
  choose(event: number): void;
  moved(): void;    // the picture shows another part of the run
  settled(): void;  // and the pointer was let go
  fold?(): void;    // the band of processes that never led was clicked
}

export function listenToPointer(canvas: HTMLCanvasElement, tip: HTMLElement, picture: Picture, pointing: Pointing): void {
  let held: { x: number; from: number; to: number; moved: boolean } | null = null;
  canvas.addEventListener('pointerdown', (event) => {
    held = { x: event.offsetX, from: picture.from, to: picture.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (held !== null) {
      held.moved ||= Math.abs(event.offsetX - held.x) > 3;
      const shift = (picture.timeAt(held.x) - picture.timeAt(event.offsetX));
      if (held.moved) { picture.show(held.from + shift, held.to + shift); pointing.moved(); }
      tip.hidden = true;
      return;
    }
    const found = picture.eventAt(event.offsetX, event.offsetY, pointing.passes);
    const text = found > 0 ? picture.tellOf(found) : picture.isBand(event.offsetY) ? picture.bandText() : '';
    canvas.style.cursor = picture.isBand(event.offsetY) ? 'pointer' : '';
    tip.hidden = text === '';
    if (text === '') return;
    tip.textContent = text;
    const room = canvas.clientWidth;
    tip.style.left = event.offsetX < room / 2 ? `${event.offsetX + 14}px` : '';
    tip.style.right = event.offsetX < room / 2 ? '' : `${room - event.offsetX + 14}px`;
    tip.style.top = `${event.offsetY + 16}px`;
  });
  canvas.addEventListener('pointerup', (event) => {
    const moved = held?.moved === true;
    held = null;
    if (moved) return pointing.settled();
    if (pointing.fold !== undefined && picture.isBand(event.offsetY)) return pointing.fold();
    const found = picture.eventAt(event.offsetX, event.offsetY, pointing.passes);
    if (found > 0) pointing.choose(found);
  });
  canvas.addEventListener('pointercancel', () => { held = null; });
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const shift = event.deltaX / canvas.clientWidth * (picture.to - picture.from);
      picture.show(picture.from + shift, picture.to + shift);
    } else {
      picture.zoom(Math.exp(event.deltaY / 400), picture.timeAt(event.offsetX));
    }
    pointing.moved();
  }, { passive: false });
}
