// The same cases through targaryen: how many it judges in a second.
//
//   node targaryen.mjs SETS.json MILLISECONDS
//
// Prints one object, from the names of the sets to rates. Rules are compiled and data read beforehand, as in Hearth.

import { readFileSync } from 'node:fs';
import targaryen from 'targaryen';

const [file, duration] = process.argv.slice(2);
const NOW = 5000;

function attempt(database, { auth, kind, path, value }) {
  const own = database.as(auth).with({ debug: false, now: NOW });
  switch (kind) {
    case 'read': return own.read(path, { now: NOW });
    case 'update': return own.update(path, value, NOW);
    default: return own.write(path, value, undefined, NOW);
  }
}

const rates = {};
for (const { name, rules, data, cases } of JSON.parse(readFileSync(file, 'utf8'))) {
  const database = targaryen.database(rules, data, NOW).with({ debug: false });
  for (const each of cases) {
    const { allowed } = attempt(database, each);
    if (allowed !== each.allow) {
      throw new Error(`${name}: ${each.kind} ${each.path} is ${allowed ? 'allowed' : 'denied'}`);
    }
  }
  let best = 0;
  for (let round = 0; round < 3; round += 1) {
    const begin = process.hrtime.bigint();
    let judged = 0;
    let elapsed = 0;
    while (elapsed < Number(duration)) {
      cases.forEach((each) => attempt(database, each));
      judged += cases.length;
      elapsed = Number(process.hrtime.bigint() - begin) / 1e6;
    }
    best = Math.max(best, (judged / elapsed) * 1000);
  }
  rates[name] = best;
}
console.log(JSON.stringify(rates));
