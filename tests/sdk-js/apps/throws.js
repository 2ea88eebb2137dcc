// An app whose transaction fails in its second run, with whatever the client has by then.

import { initializeApp } from 'firebase/app';
import { getDatabase, ref, runTransaction } from 'firebase/database';

const client = getDatabase(initializeApp({ databaseURL: process.argv[2] }));
let runs = 0;
process.once('uncaughtException', (error) => {
  console.log(error.message);
  process.exit();
});
await runTransaction(ref(client, 'doc'), () => {
  runs += 1;
  if (runs === 2) throw new Error('failed in the second run');
  return { rev: 1 };
});
