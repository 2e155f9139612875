import type { CommandSender } from "../../client/http/commands.ts";
import { ApiError, type WhoAmI } from "../../client/index.ts";

/** The server of a backup or a restore, and the tenant of the credential there. */
export interface Server {
  readonly url: string;
  readonly commands: CommandSender;
  readonly tenant: string;
  readonly kind: WhoAmI["kind"];
  /** The `SECRETS_KEY` of the server that was backed up. */
  readonly secretsKey?: string | undefined;
}

/** The parameters of a page; as a type, so that it is a record, too. */
type PageQuery = { readonly limit: number; readonly cursor?: string };

const PAGE = 200;

/** The items of all pages of a list. */
export async function* listed<Page extends { next_cursor: string | null }, Item>(
  read: (query: PageQuery) => Promise<Page>,
  items: (page: Page) => readonly Item[],
): AsyncGenerator<Item> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await read({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    yield* items(page);
    cursor = page.next_cursor;
  }
}

export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The answer to a request; undefined for 404. @throws ApiError | ConnectionError */
export async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** True for a refusal of this one request: others may succeed. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && ![401, 403, 429, 502, 503, 504].includes(error.status);
}

/** A refusal in one line, with its places. */
export function reasonOf({ problem }: ApiError): string {
  const places = (problem.errors ?? []).map(({ path, message }) => `${path} ${message}`);
  return [problem.detail, ...places].join(" ");
}
