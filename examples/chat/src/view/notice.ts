// What must be said once: a refusal by the server.

import { element, part } from './element';

const SHOWN_MS = 8000;

export function showNotice(sentence: string): void {
  const notices = part('notices', HTMLElement);
  const close = element('button', { type: 'button', class: 'icon', 'aria-label': 'Close' }, '×');
  const notice = element('div', { class: 'notice' }, element('span', {}, sentence), close);
  close.addEventListener('click', () => notice.remove());
  setTimeout(() => notice.remove(), SHOWN_MS);
  notices.append(notice);
}
