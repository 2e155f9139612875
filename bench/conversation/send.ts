import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

const agent = new Agent({ keepAlive: true });

/** Sends JSON over a connection that is kept. @returns the whole answer @throws Error for a status of 300 or more */
export async function send(
  method: "POST" | "PUT",
  url: string,
  body: object,
  accept = "application/json",
): Promise<string> {
  const headers = { "content-type": "application/json", accept };
  const sent = request(url, { agent, method, headers });
  sent.end(JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const answer = await text(response);
  if ((response.statusCode ?? 0) < 300) return answer;
  throw new Error(`${url}: ${response.statusCode} ${answer}`);
}
