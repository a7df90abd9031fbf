/** The part of an address behind `?`, kept readable: plain words, and lists with commas. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    const text = Array.isArray(value) ? value.join(',') : value;
    if (text !== undefined && text !== null && text !== '' && text !== false) params.set(name, String(text));
  }
  const written = params.toString().replaceAll('%2C', ',');
  return written ? `?${written}` : '';
}

/** A list that was written with commas; undefined when it is empty. */
export function listOf(value: unknown): string[] | undefined {
  const items = Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value.split(',') : [];
  const wanted = items.filter((item) => item !== '');
  return wanted.length > 0 ? wanted : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
