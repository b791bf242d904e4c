/**
 * Remembers what measuring on an adapter has chosen: in the browser's IndexedDB, which workers have too, and in this
 * process everywhere. Losing it costs one more measurement, so every failure of the database is silent.
 */
const memory = new Map<string, string>();
const NAME = 'ratioscope';
const STORE = 'choices';

/** The choice kept under `key`, or undefined. */
export async function readChoice(key: string): Promise<string | undefined> {
  const here = memory.get(key);
  if (here !== undefined) return here;
  const database = await open();
  if (!database) return undefined;
  const value = await new Promise<unknown>((resolve) => {
    const request = database.transaction(STORE).objectStore(STORE).get(key);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => resolve(undefined);
  });
  database.close();
  return typeof value === 'string' ? value : undefined;
}

/** Keeps a choice; returns at once. */
export function rememberChoice(key: string, value: string): void {
  memory.set(key, value);
  void open().then((database) => {
    if (!database) return;
    const writing = database.transaction(STORE, 'readwrite');
    writing.oncomplete = writing.onabort = () => database.close();
    writing.objectStore(STORE).put(value, key);
  });
}

function open(): Promise<IDBDatabase | undefined> {
  if (typeof indexedDB === 'undefined') return Promise.resolve(undefined);
  return new Promise((resolve) => {
    try {
      const request = indexedDB.open(NAME, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      request.onsuccess = () => resolve(request.result);
      request.onerror = request.onblocked = () => resolve(undefined);
    } catch {
      resolve(undefined);
    }
  });
}
