import { expect, test } from "vitest";
import { newChat, textsOf } from "../../api/protocols/ai-sdk/support/test-chat.ts";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { server } from "./support/shared-server.ts";

test("a chat of the AI SDK runs a team", async () => {
  await server.json("/v1/teams", { id: "ai-sdk", component: SAMPLE_COMPONENT });
  const chat = newChat("ai 7", `${server.origin}/ai-sdk/teams/ai-sdk/chat`);
  await chat.sendMessage({ text: "Hello." });
  expect(chat.error).toBeUndefined();
  expect(textsOf(chat.last)).toEqual(["one", "one", "two"]);
});
