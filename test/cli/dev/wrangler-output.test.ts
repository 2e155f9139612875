import { expect, test } from "vitest";
import { shownLine } from "#cli/dev/wrangler.ts";

const RED = "\u001B[31m✘ \u001B[41;31m[\u001B[41;97mERROR\u001B[41;31m]\u001B[0m \u001B[1m";

test.for([
  "NOSENTRY SQLite alarm handler canceled with requestScheduledAlarm.; actorId = d5c9",
  "kj/async-io-unix.c++:186: disconnected: ::read(fd, buffer, maxBytes): Connection reset by peer",
  `${RED}workerd/server/server.c++:1951: error: Uncaught exception: kj/compat/http.c++:2\u001B[0m`,
  "stack: 55d0c2a1 55d0c2b7",
  `${RED}Uncaught (in promise) Error: Network connection lost.\u001B[0m`,
])("a line that is not for users is not shown: %s", (line) => {
  expect(shownLine(line, true)).toBeUndefined();
});

test("other lines are shown, with their colours on terminals only", () => {
  const line = `${RED}{"event":"run_failed"}\u001B[0m`;
  expect(shownLine(line, true)).toBe(line);
  expect(shownLine(line, false)).toBe('✘ [ERROR] {"event":"run_failed"}');
  expect(shownLine("ModelError: Network connection lost.", false)).toBe(
    "ModelError: Network connection lost.",
  );
});
