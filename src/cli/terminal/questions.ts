import { createInterface } from "node:readline/promises";
import type { Answer, HumanRequest, ListedRequest } from "../../client/index.ts";
import { printable, styler } from "./output.ts";

type Request = Omit<HumanRequest, "context"> | ListedRequest;

export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/** The question, with the tool call that needs approval, its rule's findings and those who have approved. */
export function describeRequest({
  prompt,
  code,
  tool_call,
  matched = [],
  approvals = [],
}: Request): string {
  const parts = [prompt];
  if (code !== undefined) parts.push(code);
  if (tool_call !== undefined) {
    parts.push(`${tool_call.name}(${JSON.stringify(tool_call.arguments, null, 2)})`);
  }
  for (const { condition, value } of matched) {
    parts.push(
      `Asked by the rule ${JSON.stringify(condition)}: it found ${JSON.stringify(value)}.`,
    );
  }
  for (const { subject, reason } of approvals) {
    parts.push(`Approved by ${subject}${reason && `: ${reason}`}.`);
  }
  return printable(`${parts.join("\n")}\n`);
}

export interface AskOptions {
  /** Ends the question. */
  signal: AbortSignal;
  /** True if an empty answer skips the question; otherwise it is asked again. */
  optional?: boolean;
}

/**
 * Asks a question of an agent in the terminal.
 *
 * @returns undefined when it was skipped
 * @throws an AbortError when the signal is aborted or Ctrl-C is pressed
 */
export async function ask(
  request: Request,
  { signal, optional = false }: AskOptions,
): Promise<Answer | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  let done = false;
  // The terminal handles Ctrl-C while it reads a line. Ctrl-D closes it, so no answer can follow.
  terminal.on("SIGINT", () => process.emit("SIGINT"));
  terminal.on("close", () => done || process.emit("SIGINT"));
  const style = styler(process.stdout);
  const question = async (text: string): Promise<string> =>
    (await terminal.question(style("bold", text), { signal })).trim();
  try {
    process.stdout.write(describeRequest(request));
    for (;;) {
      const answer =
        request.kind === "approval"
          ? await askApproval(question, request)
          : await askText(question);
      if (answer !== undefined || optional) return answer;
    }
  } finally {
    done = true;
    terminal.close();
    // An open input would keep the process alive.
    process.stdin.pause();
  }
}

type Ask = (text: string) => Promise<string>;

async function askText(question: Ask): Promise<Answer | undefined> {
  const content = await question("> ");
  return content === "" ? undefined : { content };
}

async function askApproval(
  question: Ask,
  { allow = [], revision }: Request,
): Promise<Answer | undefined> {
  const reaches = allow.map((reach) => `, ${reach} for equal calls of the ${reach}`).join("");
  const answer = (await question(`Approve? (y/n${reaches}) `)).toLowerCase();
  const shown = revision === undefined ? {} : { revision };
  const reach = allow.find((one) => one === answer);
  if (reach !== undefined) return { approved: true, allow: reach, ...shown };
  if (["y", "yes"].includes(answer)) return { approved: true, ...shown };
  if (!["n", "no"].includes(answer)) return undefined;
  const reason = await question("Reason (may be empty): ");
  return { approved: false, ...(reason !== "" && { reason }) };
}
