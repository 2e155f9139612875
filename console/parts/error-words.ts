import { ApiError, ConnectionError } from "troupe/client";

/** An error as the page states it. */
export interface ErrorWords {
  /** The heading of a page that cannot be shown because of it. */
  title: string;
  text: string;
  /** The next step, if the text does not name one. */
  advice?: string;
}

/** The list of the kind of thing that an address names, for an address of nothing. */
interface Missing {
  what: string;
  list: { href: string; name: string };
}

const TEAMS = { href: "/teams", name: "Show all teams" };
const COLLECTIONS = { href: "/memory/collections", name: "Show all collections" };
const MISSING: Readonly<Record<string, Missing>> = {
  team_not_found: { what: "team", list: TEAMS },
  run_not_found: { what: "run", list: { href: "/runs", name: "Show all runs" } },
  webhook_not_found: { what: "webhook", list: { href: "/webhooks", name: "Show all webhooks" } },
  collection_not_found: { what: "collection", list: COLLECTIONS },
  document_not_found: { what: "document", list: COLLECTIONS },
};

/** The list in which a person looks for another item, if the error is that this one does not exist. */
export function listInstead(error: Error): Missing["list"] | undefined {
  if (!(error instanceof ApiError) || error.status !== 404) return undefined;
  return MISSING[error.code]?.list ?? TEAMS;
}

/** True if it goes away by itself when the server is back. */
export function isAway(error: Error): boolean {
  return (
    error instanceof ConnectionError ||
    (error instanceof ApiError && error.status >= 500 && error.code !== "sandbox_not_configured")
  );
}

/** States an error for a person: never an address of the API. */
export function wordsOf(error: Error): ErrorWords {
  if (error instanceof ConnectionError) {
    return {
      title: "The server can't be reached",
      text: "The server can't be reached.",
      advice: "Check your connection.",
    };
  }
  if (!(error instanceof ApiError))
    return { title: "This page can't be shown", text: error.message };
  const { status, code, problem, retryAfter, repeatable } = error;
  const missing = status === 404 ? MISSING[code] : undefined;
  if (missing !== undefined) {
    const { what } = missing;
    return {
      title: `${what.charAt(0).toUpperCase()}${what.slice(1)} not found`,
      text: `This ${what} doesn't exist, or it was deleted.`,
    };
  }
  const text = problem.detail;
  if (code === "missing_scope") {
    return { title: "Your key has no access", text, advice: "Use a key that has it." };
  }
  if (code === "sandbox_not_configured") {
    return {
      title: "This server has no sandbox",
      text: "This server has no sandbox, so teams have no files and can't run code.",
      advice: "Ask the operator to set SANDBOX_URL.",
    };
  }
  const advice =
    status === 429 && repeatable && retryAfter !== undefined && !/try again/i.test(text)
      ? `Try again in ${Math.ceil(retryAfter / 1_000)} s.`
      : undefined;
  return { title: "This page can't be loaded", text, ...(advice !== undefined && { advice }) };
}

/** The words of an error in one line. */
export function sentenceOf(error: Error): string {
  const { text, advice } = wordsOf(error);
  return advice === undefined ? text : `${text} ${advice}`;
}
