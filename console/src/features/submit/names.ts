const MOST_OF_A_NAME = 250;

/** The first of name-2, name-3, … that is free; a name with a number counts on, as the server does. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  const counted = /^(.+)-(\d{1,6})$/.exec(name);
  const stem = counted?.[1] ?? name.slice(0, MOST_OF_A_NAME - 10);
  let number = counted ? Number(counted[2]) + 1 : 2;
  while (taken.has(`${stem}-${number}`)) number += 1;
  return `${stem}-${number}`;
}

export const stemOf = (name: string) => /^(.+)-\d{1,6}$/.exec(name)?.[1] ?? name;
