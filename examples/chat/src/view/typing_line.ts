// "Ada is typing…"

import { part } from './element';

export function showTypists(names: string[]): void {
  part('typing', HTMLElement).textContent = inWords(names);
}

function inWords(names: string[]): string {
  const [first, second] = names;
  if (first === undefined) {
    return '';
  }
  if (second === undefined) {
    return `${first} is typing…`;
  }
  return names.length === 2 ? `${first} and ${second} are typing…` : 'Several people are typing…';
}
