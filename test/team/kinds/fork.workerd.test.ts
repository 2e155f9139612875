import { describe, expect, test } from "vitest";
import type { Json } from "troupe";
import { KINDS } from "../support/kinds.ts";
import { stateOf, threadOf, undisturbed } from "../support/outcome.ts";
import { type TestTeam, value } from "../support/team.ts";
import { sampled } from "../../support/samples.ts";

/** What was said, in order. */
async function said(team: TestTeam): Promise<Json> {
  const thread = threadOf(value(await team.gateway.saveState()));
  return thread.map((message) => [
    message.source,
    "content" in message ? message.content : null,
  ]) as Json;
}

describe.each(KINDS)("$name", (kind) => {
  test("that is forked at any of its turns continues as it did", async () => {
    const { team } = (await undisturbed(kind)).subject;
    const { turn } = value(await team.gateway.team());
    const [last] = value(await team.gateway.runs({ limit: 1 })).runs;
    const turns = Array.from({ length: turn - 1 }, (_, index) => index + 1);
    for (const at of sampled(turns)) {
      const fork = await team.fork(at);
      const { status, stop_reason } = await fork.finished((await fork.start(null)).id);
      expect({ at, status, stop_reason }).toEqual({
        at,
        status: "completed",
        stop_reason: last?.stop_reason,
      });
      expect({ at, said: await said(fork) }).toEqual({ at, said: await said(team) });
      expect({ at, state: await stateOf(fork) }).toEqual({ at, state: await stateOf(team) });
    }
  });
});
