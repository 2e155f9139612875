import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

// Runs in a separate process, so that the client that measures does not bear its load.
// Arguments: URL, credential, requests per second. On SIGTERM it prints how often each status was answered, as JSON.

const [url = "", credential = "", perSecond = "1"] = process.argv.slice(2);
const EVERY_MS = 1;
const agent = new Agent({ keepAlive: true });
const answers: Record<number, number> = {};
const over = new AbortController();
process.once("SIGTERM", () => over.abort());

async function ask(): Promise<void> {
  const sent = get(url, { agent, headers: { authorization: `Bearer ${credential}` } });
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const { statusCode = 0 } = response.resume();
  answers[statusCode] = (answers[statusCode] ?? 0) + 1;
  await once(response, "end");
}

const asked: Promise<void>[] = [];
const started = performance.now();
while (!over.signal.aborted) {
  const due = ((performance.now() - started) / 1000) * Number(perSecond);
  while (asked.length < due) asked.push(ask());
  await sleep(EVERY_MS);
}
await Promise.all(asked);
agent.destroy();
process.stdout.write(JSON.stringify(answers));
