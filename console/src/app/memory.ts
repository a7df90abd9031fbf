/** What a browser keeps for us; where it keeps nothing, choices last as long as the page. */
const held = new Map<string, string>();

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key) ?? held.get(key) ?? null;
  } catch {
    return held.get(key) ?? null;
  }
}

export function remember(key: string, value: string): void {
  held.set(key, value);
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is full or switched off.
  }
}

export function forget(key: string): void {
  held.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
}
