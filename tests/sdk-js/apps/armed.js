// An app that arms writes for its disconnect, says so, and then waits to be killed.

import { initializeApp } from 'firebase/app';
import { getDatabase, onDisconnect, ref, set } from 'firebase/database';

const client = getDatabase(initializeApp({ databaseURL: process.argv[2] }));
const own = ref(client, 'who/armed');
await onDisconnect(own).set('off');
await set(own, 'on');
console.log('armed');
