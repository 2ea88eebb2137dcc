// A round initial, in a colour that is always the same for the same person.

import { element } from './element';

export function avatar(uid: string, name: string): HTMLElement {
  const initial = [...name.trim()][0]?.toUpperCase() ?? '?';
  const made = element('span', { class: 'avatar', 'aria-hidden': 'true' }, initial);
  made.style.setProperty('--hue', String(hueOf(uid)));
  return made;
}

export function hueOf(uid: string): number {
  let hue = 0;
  for (const char of uid) {
    hue = (hue * 31 + (char.codePointAt(0) ?? 0)) % 360;
  }
  return hue;
}
