// The official client in Chromium, straight to the server.
//
//   HEARTH_URL  a `hearth dev` to use instead of one of our own
//   HEARTH_BIN  the binary, if it is not target/debug/hearth
//   CHROMIUM    the browser, if it is not /usr/bin/chromium

import { startHearth } from './hearth.mjs';
import { transports } from './transports.mjs';

transports(startHearth);
