import * as z from "zod";

export const VERSION = "1.0";
/** Also supported. */
export const LEGACY_VERSION = "0.3";

const NAME = "A2A-Version";

/** The version may be in the query instead of the header. */
export const VERSION_QUERY = z.strictObject({
  [NAME]: z.string().optional().describe("The version that the client speaks: 1.0 or 0.3"),
});

/** The version of a client: 0.3 if it sends none, as the specification says. */
export function versionOf({ url, headers }: Request): string {
  const { searchParams } = new URL(url);
  return headers.get(NAME)?.trim() || searchParams.get(NAME)?.trim() || LEGACY_VERSION;
}

/** True if a version is the wanted one, or a patch version of it. */
export function isVersion(version: string, wanted: string): boolean {
  return version === wanted || version.startsWith(`${wanted}.`);
}
