import { join } from "node:path";
import { printedOutcomes, type Suite } from "./suite.ts";

/** The recorded event traces of AG-UI (ag-ui-protocol/ag-ui), and the fixtures of its dojo's mock model, with the mock installed in the checkout. */
export const dojo: Suite = {
  commit: "821b8c227c6fe7b78de2c8259173dd7cbbdf181b",
  expectedFailures: {
    "Step04_HumanInLoop,":
      "the sample asks for an approval with a call of a tool that its wrapper adds; this server asks with an interrupt, as in step 9",
    "Step05_StateManagement, request 1, events":
      "the model changes the state with a tool, whose call is in the stream, and not with a whole answer",
    "Step09_InterruptsApproval, request 2":
      "the sample repeats an approved call before its result; this server has it in the snapshot of the messages",
  },
  start: () =>
    Promise.resolve({
      run: (checkout: string) => ({
        command: process.execPath,
        args: [join(import.meta.dirname, "dojo/main.ts"), checkout],
        env: {},
        outcomes: printedOutcomes,
      }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
};
