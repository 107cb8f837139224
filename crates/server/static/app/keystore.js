// Private keys in this browser, one per agent. A key lasts as long as the page, or, if the person wants it, in
// IndexedDB until it is forgotten. Either way it is a WebCrypto key whose bytes no script can read.

/** @type {Map<string, CryptoKey>} */
const loaded = new Map();

/** @param {string} agent */
export function keyOf(agent) {
  return loaded.get(agent);
}

/** @returns {Promise<IDBDatabase>} */
function database() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('tandem', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('keys');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {IDBTransactionMode} mode @param {(keys: IDBObjectStore) => IDBRequest} ask @returns {Promise<unknown>} */
async function inStore(mode, ask) {
  const opened = await database();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = opened.transaction('keys', mode);
      const request = ask(transaction.objectStore('keys'));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    opened.close();
  }
}

/** Fetches the kept key of an agent, if there is one. @param {string} agent */
export async function recall(agent) {
  const key = await inStore('readonly', (keys) => keys.get(agent)).catch(() => undefined);
  if (key instanceof CryptoKey) loaded.set(agent, key);
}

/** @param {string} agent @param {CryptoKey} key @param {boolean} isKept */
export async function remember(agent, key, isKept) {
  loaded.set(agent, key);
  if (isKept) await inStore('readwrite', (keys) => keys.put(key, agent));
}

/** @param {string} agent */
export async function forget(agent) {
  loaded.delete(agent);
  await inStore('readwrite', (keys) => keys.delete(agent));
}
