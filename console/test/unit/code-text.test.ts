import { expect, test } from "vitest";
import { codeText } from "../../usage/code-text.ts";

test("the place of code is a sentence, which says that a sandbox is starting", () => {
  expect(codeText({ code: "loader" })).toBe(
    "JavaScript of agents and tools runs in dynamic Workers.",
  );
  expect(codeText({ code: "off", sandbox: "off" })).toBe(
    "This server runs no code of agents and tools.",
  );
  expect(codeText({ code: "service", sandbox: "ready" })).toBe(
    "Code of agents and tools runs in a sandbox.",
  );
  expect(codeText({ code: "service", sandbox: "starting" })).toBe(
    "Code of agents and tools runs in a sandbox. The sandbox is starting.",
  );
});
