// The banner above everything while there is no connection.

import { watchConnected, type Session } from '../session';
import { part } from './element';

// A page that has just opened is not connected yet, and a line that flashes at every start warns of nothing.
const PATIENCE_MS = 1500;

export function showOffline(session: Session): void {
  const banner = part('offline', HTMLElement);
  let wasConnected = false;
  let patience: ReturnType<typeof setTimeout> | undefined;
  watchConnected(session, (connected) => {
    clearTimeout(patience);
    wasConnected ||= connected;
    if (connected) {
      banner.hidden = true;
      document.body.classList.remove('offline');
      return;
    }
    patience = setTimeout(() => {
      banner.textContent = wasConnected
        ? 'Offline. What you write waits on this page, and is sent when the connection is back.'
        : 'No connection to Hearth yet. Is `hearth dev` running?';
      banner.hidden = false;
      // Who else is there cannot be known now, and the member list says nothing of it.
      document.body.classList.add('offline');
    }, PATIENCE_MS);
  });
}
