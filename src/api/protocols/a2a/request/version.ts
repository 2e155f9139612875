import * as z from "zod";

export const VERSION = "1.0";
/** Spoken beside it. */
export const LEGACY_VERSION = "0.3";

const NAME = "A2A-Version";

/** The version may be in the query instead of the header. */
export const VERSION_QUERY = z.strictObject({
  [NAME]: z.string().optional().describe("The version that the client speaks: 1.0 or 0.3"),
});

/** The version that a client speaks: without a word about it 0.3, as the specification says. */
export function versionOf({ url, headers }: Request): string {
  const given = headers.get(NAME) ?? new URL(url).searchParams.get(NAME) ?? "";
  return given.trim() || LEGACY_VERSION;
}

/** Whether a version is one, or a patch of it. */
export function isVersion(version: string, wanted: string): boolean {
  return version === wanted || version.startsWith(`${wanted}.`);
}
