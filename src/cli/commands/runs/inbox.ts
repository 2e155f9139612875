import { beginningOf } from "../../../core/cut.ts";
import { Command } from "commander";
import { ApiError, type ListedRequest, type TroupeClient } from "../../../client/index.ts";
import { EXIT } from "../../terminal/errors.ts";
import { untilInterrupted } from "../../terminal/interrupt.ts";
import { printable, printJson, printLine } from "../../terminal/output.ts";
import { ask, describeRequest, isInteractive } from "../../terminal/questions.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

export function inboxCommand(): Command {
  const command = new Command("inbox")
    .summary("list and answer questions to humans")
    .description(
      "Lists the questions of all teams that wait for a human and, in a terminal, asks you to answer each. Press Enter to skip a question.",
    )
    .option("--list", "only list them")
    .addHelpText("after", "\nExample:\n  $ npx troupe inbox")
    .action(async (options: ConnectionOptions & { list?: true }) => {
      await connect(options, async (client) => {
        const requests = await openRequests(client);
        if (options.json) {
          for (const request of requests) printJson(request);
        } else if (requests.length === 0) printLine("No questions are open.");
        else if (options.list || !isInteractive()) {
          for (const request of requests) printLine(heading(request) + describeRequest(request));
        } else if (await untilInterrupted((signal) => answerAll(client, requests, signal))) {
          process.exitCode = EXIT.interrupted;
        }
      });
    });
  return withConnection(command);
}

async function openRequests(client: TroupeClient): Promise<ListedRequest[]> {
  const all: ListedRequest[] = [];
  let cursor: string | null = null;
  do {
    const page = await client.requests.list({ limit: 200, ...(cursor !== null && { cursor }) });
    all.push(...page.requests);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}

const ASKED: Record<ListedRequest["kind"], string> = {
  input: "input",
  approval: "an approval",
  tool: "the result of a tool",
};

/** The team and the task that the question belongs to, and the last message before it. */
function heading(request: ListedRequest): string {
  const { team_id, team_label, run_id, kind, source, task, said } = request;
  const team = team_label === null ? team_id : `${team_label} (${team_id})`;
  return [
    `Team ${team}, run ${run_id}: ${source} asks for ${ASKED[kind]}.`,
    ...(task === null ? [] : [`Task: ${oneLine(task)}`]),
    ...(said === null || said.text === task ? [] : [`${said.source}: ${oneLine(said.text)}`]),
    "",
  ].join("\n");
}

function oneLine(text: string): string {
  const line = printable(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= 200 ? line : `${beginningOf(line, 199)}…`;
}

async function answerAll(
  client: TroupeClient,
  requests: readonly ListedRequest[],
  signal: AbortSignal,
): Promise<void> {
  for (const request of requests) {
    process.stdout.write(heading(request));
    const answer = await ask(request, { signal, optional: true });
    if (answer === undefined) continue;
    try {
      const team = client.team(request.team_id);
      const answered = await team.answer(request.run_id, request.id, answer);
      const isOpen = answered.requests.some(({ id }) => id === request.id);
      printLine(isOpen ? "Counted. Others have to approve as well.\n" : "Answered.\n");
    } catch (error) {
      // Another person answered first, the question expired, or its rule names others. Continue with the other questions.
      const isOnlyThis = error instanceof ApiError && [403, 409, 422].includes(error.status);
      if (!isOnlyThis) throw error;
      printLine(`${error.problem.detail}\n`);
    }
  }
}
