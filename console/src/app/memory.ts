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

/** A list that was kept; what is broken, or of another kind, is left out. */
export function recallList<T>(key: string, isOne: (given: unknown) => given is T): T[] {
  try {
    const kept: unknown = JSON.parse(recall(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isOne) : [];
  } catch {
    return [];
  }
}

export function rememberList(key: string, list: readonly unknown[], most: number): void {
  remember(key, JSON.stringify(list.slice(0, most)));
}
