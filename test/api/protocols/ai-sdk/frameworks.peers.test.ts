import { type TeamClient, TroupeClient } from "troupe/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ai7, type UIMessage } from "../../../peers/ai-sdk.ts";
import { FRAMEWORKS } from "../../../peers/ai-sdk-frameworks.ts";
import { TestWorker } from "../../../support/worker.ts";
import { agent, asking, calls, type Component, inTurn, TOOLS } from "./support/teams.ts";
import { textsOf } from "./support/test-chat.ts";

let worker: TestWorker;
let client: TroupeClient;

beforeAll(async () => {
  worker = await TestWorker.start();
  client = new TroupeClient({ baseURL: await worker.origin });
});
afterAll(() => worker[Symbol.asyncDispose]());

/** A chat, and the last text of each state that its component showed. */
async function chatOf(name: string, component: Component) {
  const team: TeamClient = await client.teams.create({ component });
  const shown: string[] = [];
  const make = await FRAMEWORKS[name]!();
  const chat = make(
    {
      id: team.id,
      transport: new ai7.DefaultChatTransport<UIMessage>({
        api: `${await worker.origin}/ai-sdk/teams/${team.id}/chat`,
      }),
      sendAutomaticallyWhen: ai7.lastAssistantMessageIsCompleteWithApprovalResponses,
    },
    (messages) => {
      const last = messages.at(-1);
      if (last?.role === "assistant") shown.push(textsOf(last).at(-1) ?? "");
    },
  );
  return { chat, shown };
}

test.each(Object.keys(FRAMEWORKS))(
  "%s shows a text as it grows, and another answer",
  async (name) => {
    const replies = ["One word after the other.", "Said in another way."];
    const { chat, shown } = await chatOf(name, inTurn(agent("writer", replies, { delay: 200 })));
    await chat.sendMessage({ text: "Write." });
    expect(chat.error).toBeUndefined();
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(textsOf(chat.messages.at(-1)!)).toEqual([replies[0]]);
    await expect.poll(() => shown.at(-1)).toBe(replies[0]);
    const grown = shown.filter((text) => text !== "" && text !== replies[0]);
    expect(grown.length).toBeGreaterThan(1);
    for (const text of grown) expect(replies[0]!.startsWith(text)).toBe(true);
    await chat.regenerate();
    expect(chat.error).toBeUndefined();
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    // A fork answers again, and its model has given nothing yet.
    expect(textsOf(chat.messages.at(-1)!)).toEqual([replies[0]]);
  },
);

test.each(Object.keys(FRAMEWORKS))(
  "%s asks for an approval, and continues by itself",
  async (name) => {
    const replies = [calls(undefined, ["calculator", { expression: "6 * 7" }]), "Done."];
    const clerk = agent("clerk", replies, { tools: TOOLS, reflect: true });
    const { chat } = await chatOf(name, asking(inTurn(clerk), "calculator"));
    await chat.sendMessage({ text: "Calculate." });
    const call = () => chat.messages.at(-1)?.parts.find((part) => part.type === "dynamic-tool");
    const asked = call();
    expect(asked).toMatchObject({ state: "approval-requested", toolName: "calculator" });
    const { id } = asked?.approval ?? { id: "" };
    await chat.addToolApprovalResponse({ id, approved: true });
    await expect.poll(() => textsOf(chat.messages.at(-1)!)).toEqual(["Done."]);
    expect(call()).toMatchObject({ state: "output-available", output: "42" });
    await expect.poll(() => chat.status).toBe("ready");
    expect(chat.error).toBeUndefined();
  },
);
