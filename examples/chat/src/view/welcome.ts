// The door: asks a newcomer for a name.

import { newIdentity, type Identity } from '../identity';
import { NAME_CHARS_MAX } from '../layout';
import { part } from './element';

export function askForName(): Promise<Identity> {
  const page = part('welcome', HTMLElement);
  const name = part('name', HTMLInputElement);
  name.maxLength = NAME_CHARS_MAX;
  page.hidden = false;
  name.focus();
  return new Promise((resolve) => {
    part('welcome-form', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      const chosen = name.value.trim();
      if (chosen !== '') {
        page.hidden = true;
        resolve(newIdentity(chosen));
      }
    });
  });
}
