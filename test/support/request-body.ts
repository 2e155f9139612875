import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

/** The body of a request as text; undefined when the client went away in the middle of it, as one that is killed does. */
export async function requestBody(request: IncomingMessage): Promise<string | undefined> {
  try {
    return await text(request);
  } catch {
    return undefined;
  }
}
