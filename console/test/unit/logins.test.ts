import { expect, test } from "vitest";
import { isQuestion, promptOf } from "../../requests/prompt.ts";
import { webLink } from "../../text/foreign.ts";

test("only URLs of the web are links to logins", () => {
  expect(webLink("https://login.example.com/a?b=c")).toBe("https://login.example.com/a?b=c");
  expect(webLink("http://127.0.0.1:1/")).toBe("http://127.0.0.1:1/");
  for (const other of ["javascript:alert(1)", "mailto:a@b.example", "data:text/html,a", "/a", ""]) {
    expect(webLink(other), other).toBeUndefined();
  }
});

test("the prompt of a login is shown without its URL", () => {
  const url = "https://login.example.com/authorize?a=b.c";
  const prompt = `The MCP server "mcp.example.com" needs a login. Open this address: ${url}\nThe run goes on.`;
  expect(promptOf({ prompt, url })).toBe('The MCP server "mcp.example.com" needs a login.');
  // A prompt that was cut has no whole address.
  expect(promptOf({ prompt: "Log in. At https://login", url })).toBe("Log in. At https://login");
  expect(promptOf({ prompt: `See ${url} first.` })).toBe(`See ${url} first.`);
});

test("a login is not answered with a text", () => {
  expect(isQuestion({ kind: "input" })).toBe(true);
  expect(isQuestion({ kind: "approval" })).toBe(false);
  expect(isQuestion({ kind: "input", login: { server: "mcp.example.com", user: null } })).toBe(
    false,
  );
});
