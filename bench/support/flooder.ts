import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

// A process of its own, so that its load is none of the client that measures.
// Arguments: URL, credential, requests per second. On SIGTERM it prints how often each status was answered, as JSON.

const [url = "", credential = "", perSecond = "1"] = process.argv.slice(2);
const EVERY_MS = 1;
const agent = new Agent({ keepAlive: true });
const answers: Record<number, number> = {};
let under = 0;
let over = false;

process.once("SIGTERM", () => (over = true));

function ask(): void {
  under += 1;
  get(url, { agent, headers: { authorization: `Bearer ${credential}` } }, (response) => {
    const { statusCode = 0 } = response;
    answers[statusCode] = (answers[statusCode] ?? 0) + 1;
    response.resume().on("end", () => (under -= 1));
  });
}

const started = performance.now();
let asked = 0;
while (!over) {
  const due = ((performance.now() - started) / 1000) * Number(perSecond);
  for (; asked < due; asked++) ask();
  await sleep(EVERY_MS);
}
while (under > 0) await sleep(EVERY_MS);
agent.destroy();
process.stdout.write(JSON.stringify(answers));
