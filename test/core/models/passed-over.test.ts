import { expect, test } from "vitest";
import { PassedOver } from "#core/models/clients/fallback-chat-completion-client.ts";

test("models that failed are remembered for a minute, and no longer", () => {
  const passedOver = new PassedOver();
  passedOver.add("a", 0);
  passedOver.add("b", 10_000);
  passedOver.add("a", 30_000);
  expect(passedOver.until("a")).toBe(90_000);
  expect(passedOver.until("b")).toBe(70_000);
  expect(passedOver.until("c")).toBe(0);
  passedOver.add("c", 70_000);
  expect(passedOver.size).toBe(2);
  expect(passedOver.until("b")).toBe(0);
});
