import { ModelError, TroupeError } from "troupe";
import { expect, test } from "vitest";
import { isPassing, isPassingAtOnce } from "#core/steps/passing-error.ts";

const flagged = (flags: object, message = "as the application called it"): Error =>
  Object.assign(new Error(message), flags);

test.each([
  ["an object that was reset alone", flagged({ durableObjectReset: true }), true, true],
  ["the same, one object further", flagged({ durableObjectReset: true, remote: true }), true, true],
  ["an object that moves", flagged({ retryable: true }), true, true],
  ["an object that is overloaded", flagged({ overloaded: true }), true, false],
  [
    "an object whose isolate had no memory left",
    flagged({ overloaded: true, durableObjectReset: true }),
    true,
    false,
  ],
  ["a lost connection, without a flag", new Error("Network connection lost."), true, true],
  ["a deployment", new Error("Durable Object reset because its code was updated."), true, true],
  [
    "a limit of CPU time",
    new Error("Durable Object exceeded its CPU time limit and was reset."),
    true,
    true,
  ],
  [
    "a slow storage",
    new Error("Durable Object storage operation exceeded timeout which caused object to be reset."),
    true,
    true,
  ],
  ["a fault inside the platform", new Error("internal error; reference = 3h2k"), true, true],
  ["a server that is away", new ModelError("server", "down"), true, true],
  ["a key that is wrong", new ModelError("auth", "no"), false, false],
  [
    "an error of this library that quotes the platform",
    new TroupeError("tool", "Network connection lost."),
    false,
    false,
  ],
  ["a mistake of a program", new TypeError("x is not a function"), false, false],
  ["no error", { retryable: true }, false, false],
])("%s", (_, error, passes, atOnce) => {
  expect([isPassing(error), isPassingAtOnce(error)]).toEqual([passes, atOnce]);
});
