import { hash64 } from "../../core/hash.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Message } from "../../core/messages/message.ts";
import { asEvents, chunkEvents } from "../../core/messages/create.ts";
import { rethrowSignal, TurnSignal } from "../../core/steps/signals.ts";
import type { TurnContext } from "../../core/turn/turn-context.ts";
import { errorText, isForStep } from "../../core/tools/call-tool.ts";
import type { ToolCallContext, ToolResult } from "../../core/tools/tool.ts";
import { textResult } from "../../core/tools/tool-result.ts";
import { toToolResult, withNetworkRemedy } from "./call-result.ts";
import type { LegacyQuestions } from "./connection/legacy-questions.ts";
import type { AnsweredRound, QuestionRound } from "./connection/server-question.ts";
import type { McpSessions } from "./connection/sessions.ts";
import { McpSessionHost } from "./connection/session-host.ts";
import { LoginNeededError } from "./connection/challenge.ts";
import { type LoginNeeded, loginNeeded, LoginQuestions, useIn } from "./login/login-questions.ts";
import { callTool } from "./tool-call.ts";
import { type McpTool, policyOf } from "./tool-list.ts";

/** The most questions that a server may ask during one call. */
const MAX_ROUNDS = 8;

/** The end of an attempt: a result, questions of the server, or a login that it needs. */
type CallEnd = { result: ToolResult } | QuestionRound | LoginNeeded;

/** Calls of a server's tools, each in as many rounds as the server has questions. */
export class McpCalls {
  readonly #sessions: McpSessions;
  readonly #questions: LegacyQuestions | undefined;
  readonly #host: McpSessionHost;

  /** @param questions those of servers that ask during a call instead of in its answer */
  constructor(
    sessions: McpSessions,
    questions: LegacyQuestions | undefined,
    host?: McpSessionHost,
  ) {
    this.#sessions = sessions;
    this.#questions = questions;
    this.#host = host ?? new McpSessionHost({});
  }

  /** Makes the call, and repeats it with the answers when the server has asked questions. */
  async *run(
    tool: McpTool,
    name: string,
    args: JsonObject,
    call: ToolCallContext,
  ): AsyncGenerator<Message, ToolResult, void> {
    const { ctx, caller = name } = call;
    const rounds: AnsweredRound[] = [];
    const logins = new LoginQuestions(ctx, this.#sessions.server, caller);
    while (rounds.length <= MAX_ROUNDS) {
      const outcome = yield* this.#attempt(tool, name, args, { rounds, logins }, call);
      if ("result" in outcome) return outcome.result;
      try {
        if ("login" in outcome) {
          await logins.ask(outcome);
          continue;
        }
        const answers = await this.#answers(outcome, caller, ctx.scope(`asked:${rounds.length}`));
        rounds.push({ ...outcome, answers });
      } catch (error) {
        rethrowSignal(error);
        if (ctx.signal.aborted) throw new TurnSignal("cancel");
        return textResult(name, errorText(error), true);
      }
    }
    const message = `The call was given up: its server asked more than ${MAX_ROUNDS} times.`;
    return textResult(name, message, true);
  }

  async *#attempt(
    tool: McpTool,
    name: string,
    args: JsonObject,
    { rounds, logins }: { rounds: readonly AnsweredRound[]; logins: LoginQuestions },
    { caller = name, unseen = false }: ToolCallContext,
  ): AsyncGenerator<Message, CallEnd, void> {
    const ctx = logins.scope;
    const session = this.#sessions.of(ctx.run);
    const questions = this.#questions;
    const policy = policyOf(tool);
    const messageId = ctx.id();
    const failed = (text: string) => ({ result: textResult(name, text, true) });
    const exhausted = (error: unknown) => failed(errorText(error));
    const lines = ctx.stream<string, CallEnd>(
      rounds.length === 0 ? "call" : `call:${rounds.length}`,
      async function* (attempt) {
        const use = useIn(attempt);
        try {
          const called = { tool, args, rounds };
          const outcome = yield* callTool(session, questions, called, attempt, use);
          if (!("answer" in outcome)) return outcome;
          const result = toToolResult(name, outcome.answer, (text) => session.redact(text));
          return { result: session.lacksNetwork ? withNetworkRemedy(result) : result };
        } catch (error) {
          if (error instanceof LoginNeededError && use.logins) return loginNeeded(error, use);
          if (isForStep(error, attempt)) throw error;
          return exhausted(error);
        }
      },
      {
        kind: "tool",
        policy,
        remote: true,
        retry: () => this.#sessions.retry,
        exhausted,
        subject: { name },
        fingerprint: hash64(JSON.stringify([tool.name, args, rounds])),
        messageId,
        unknownOutcome: failed,
      },
    );
    const events = asEvents(lines, chunkEvents(ctx, caller, messageId));
    if (!unseen) return yield* events;
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
    }
  }

  async #answers({ questions }: QuestionRound, source: string, ctx: TurnContext) {
    const answers: AnsweredRound["answers"] = {};
    for (const [id, question] of Object.entries(questions)) {
      answers[id] = await this.#host.answer(question, source, ctx.scope(id));
    }
    return answers;
  }
}
