import { expect, test } from "vitest";
import { HELP, readArguments } from "../../scripts/start/arguments.mjs";

test.for([
  [[], { auth: false, help: false, forWrangler: [] }],
  [["--auth"], { auth: true, help: false, forWrangler: [] }],
  [["-h"], { auth: false, help: true, forWrangler: [] }],
  [["--help", "--auth"], { auth: true, help: true, forWrangler: [] }],
  [
    ["--config", "my-team/wrangler.toml", "--auth", "--log-level=debug", "--constructor"],
    {
      auth: true,
      help: false,
      forWrangler: ["--config", "my-team/wrangler.toml", "--log-level=debug", "--constructor"],
    },
  ],
  // What follows `--` is for wrangler as it is.
  [["--", "--auth"], { auth: false, help: false, forWrangler: ["--", "--auth"] }],
] as const)("npm start -- %j", ([args, expected]) => {
  expect(readArguments([...args])).toEqual(expected);
});

test("an option with a value it does not take is refused", () => {
  expect(() => readArguments(["--auth=yes"])).toThrow("--auth takes no value");
});

test("the help names every option", () => {
  for (const option of ["--auth", "--help", "-h"]) expect(HELP).toContain(option);
});
