import { describe, expect, test } from "vitest";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { collect, user } from "../support.ts";
import { CLIENTS } from "./clients.ts";

const KEY = "q-test-key";
const CALL = { id: "c1", name: "add", arguments: { text: `with ${KEY}`, q: "q-t" } };

describe.each(CLIENTS.filter(({ secrets }) => secrets))("$name", ({ connect }) => {
  test.each([1, 2, 7, 100])("repeats no secret, in chunks of %i characters", async (chunk_size) => {
    const encoded = btoa(`user:${KEY}!`);
    const content = `Sent ${KEY}, as ${encoded}, not q-test or q`;
    await using fake = await startFakeOpenAI({
      rules: [
        { name: "text", times: 2, chunk_size, reply: { reasoning: `I have ${KEY}`, content } },
        { name: "call", times: 2, chunk_size, reply: { content: KEY, tool_calls: [CALL] } },
      ],
    });
    const client = connect(fake.origin);
    const whole = await client.create([user("Hi")]);
    expect(whole.thought).toBe("I have [redacted]");
    expect(whole.content).toMatch(/^Sent \[redacted\], as \S*\[redacted\]\S*, not q-test or q$/);
    const streamed = await collect(client.createStream([user("Hi")]));
    expect(streamed.result).toEqual(whole);
    const shown = streamed.pieces.join("");
    expect(shown).toContain("<think>I have [redacted]</think>Sent [redacted], as ");
    expect(shown).not.toContain(btoa(KEY).slice(4, 10));
    expect(shown).toMatch(/, not q-test or q$/);
    const called = { ...CALL, arguments: { ...CALL.arguments, text: "with [redacted]" } };
    for (const { content: calls, thought } of [
      await client.create([user("Hi")]),
      (await collect(client.createStream([user("Hi")]))).result,
    ]) {
      expect(thought).toBe("[redacted]");
      const [call] = calls;
      if (typeof call !== "object") throw new TypeError("there is no call");
      expect({ ...call, arguments: JSON.parse(call.arguments) as unknown }).toMatchObject(called);
    }
  });
});
