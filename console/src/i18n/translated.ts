export const LANGUAGES = { en: 'English', zh: '中文' } as const;
export type Language = keyof typeof LANGUAGES;

export type Translated<Words> = Record<Language, Words>;

/** Words of a feature in every language; one that lacks a key of the first does not compile. */
export function translated<Words>(
  words: { en: Words } & Record<Language, NoInfer<Words>>,
): Translated<Words> {
  return words;
}
