const MOST_OF_A_NAME = 255;
const ROOM_FOR_SUFFIX = 8;
const COUNTED = /^(.+)-(\d{1,6})$/;

/** What all names that are counted on from this one begin with, as the server sees it. */
export const stemOf = (name: string) =>
  (COUNTED.exec(name)?.[1] ?? name).slice(0, MOST_OF_A_NAME - ROOM_FOR_SUFFIX);

/** The first of name-2, name-3, … that is free; a name with a number counts on. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  const counted = COUNTED.exec(name);
  let number = counted ? Number(counted[2]) + 1 : 2;
  while (taken.has(`${stemOf(name)}-${number}`)) number += 1;
  return `${stemOf(name)}-${number}`;
}
