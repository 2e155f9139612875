import type { ServerResponse } from "node:http";
import { sendJson } from "./answer.ts";
import type { FakeOpenAI } from "./server.ts";
import type { RuleInput } from "./rule.ts";

/**
 * The server by HTTP, for tests whose server lives in another process:
 *
 * - `PUT /control/rules` replaces the rules, `POST` adds some before the others; the body is an array of rules
 * - `POST /control/release`, `POST /control/hold` with `{ "name" }`
 * - `GET /control/requests?after=<index>` the log; `DELETE` empties it
 * - `GET /control/wait?rule=&state=&count=&timeout_ms=` answers when this many requests of the log fit
 */
export async function control(
  fake: FakeOpenAI,
  method: string,
  url: URL,
  text: string,
  response: ServerResponse,
): Promise<void> {
  const answer = (status: number, body: unknown): void =>
    sendJson(response, status, JSON.stringify(body));
  const call = `${method} ${url.pathname.slice("/control".length)}`;
  try {
    switch (call) {
      case "PUT /rules":
        fake.rules.set(JSON.parse(text) as RuleInput[]);
        return answer(200, { ok: true });
      case "POST /rules":
        fake.rules.add(JSON.parse(text) as RuleInput[]);
        return answer(200, { ok: true });
      case "POST /release":
        fake.rules.release(nameIn(text));
        return answer(200, { ok: true });
      case "POST /hold":
        fake.rules.hold(nameIn(text));
        return answer(200, { ok: true });
      case "GET /requests": {
        const after = Number(url.searchParams.get("after") ?? -1);
        return answer(
          200,
          fake.requests.filter((request) => request.index > after),
        );
      }
      case "DELETE /requests":
        fake.log.clear();
        return answer(200, { ok: true });
      case "GET /wait":
        await wait(fake, url.searchParams);
        return answer(200, { ok: true });
      default:
        return answer(400, { error: `The fake server does not know ${call}` });
    }
  } catch (error) {
    answer(400, { error: String(error) });
  }
}

function nameIn(text: string): string {
  const { name } = JSON.parse(text) as { name?: unknown };
  if (typeof name !== "string") throw new Error("The body must be { name }");
  return name;
}

async function wait(fake: FakeOpenAI, query: URLSearchParams): Promise<void> {
  const rule = query.get("rule");
  const state = query.get("state");
  const count = Number(query.get("count") ?? 1);
  const fits = (value: string | null, wanted: string | null): boolean =>
    wanted === null || value === wanted;
  await fake.log.until(
    (requests) =>
      requests.filter((request) => fits(request.rule, rule) && fits(request.state, state)).length >=
      count,
    Number(query.get("timeout_ms") ?? 10_000),
  );
}
