import { join } from "node:path";
import type { Outcome, Suite } from "./suite.ts";

/** What test/suites/dojo/main.ts prints for each test. */
const LINE = /^(passed|failed): (.*)$/gm;

/** The recorded event traces of AG-UI (ag-ui-protocol/ag-ui), and the fixtures of its dojo's mock model, with the mock installed in the checkout. */
export const dojo: Suite = {
  commit: "821b8c227c6fe7b78de2c8259173dd7cbbdf181b",
  expectedFailures: {
    "Step04_HumanInLoop,":
      "the sample asks for an approval with a call of a tool that its wrapper adds; this server asks with an interrupt, as in step 9",
    "Step05_StateManagement, request 1, events":
      "the model changes the state with a tool, whose call is in the stream, and not with a whole answer",
    "Step09_InterruptsApproval, request 1":
      "a client that does not name its protocol version gets each question as a text, too",
    "Step09_InterruptsApproval, request 2":
      "the sample repeats an approved call before its result; this server has it in the snapshot of the messages",
    "Step10_InterruptsUserInput, request 1":
      "a client that does not name its protocol version gets each question as a text, too",
  },
  start: () =>
    Promise.resolve({
      run: (checkout: string) => ({
        command: process.execPath,
        args: [join(import.meta.dirname, "dojo/main.ts"), checkout],
        env: {},
        outcomes: outcomesIn,
      }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
};

function outcomesIn(output: string): Outcome[] {
  return Array.from(output.matchAll(LINE), ([, result, test = ""]) => ({
    test,
    failed: result === "failed",
  }));
}
