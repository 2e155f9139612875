// A module without the stemmers: clients need only the codes.

/** The codes, by ISO 639-1, of the languages whose word endings are known. */
export const LANGUAGES = [
  "ar",
  "da",
  "de",
  "el",
  "en",
  "es",
  "fi",
  "fr",
  "hi",
  "hu",
  "id",
  "it",
  "ko",
  "nl",
  "no",
  "pt",
  "ro",
  "ru",
  "sv",
  "ta",
  "tr",
] as const;

export type Language = (typeof LANGUAGES)[number];

export const TEXT_LANGUAGES = ["auto", ...LANGUAGES] as const;

/** The language of a text: `auto` looks at the text. */
export type TextLanguage = (typeof TEXT_LANGUAGES)[number];

export function isLanguage(code: string): code is Language {
  return (LANGUAGES as readonly string[]).includes(code);
}
