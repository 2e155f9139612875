import type { Client } from "@modelcontextprotocol/client";
import { type JsonObject, sortedJson } from "../../core/json.ts";
import type { ServerRequests } from "../connection/session.ts";

/** What a server asks its client while it handles a call. */
export interface McpServerQuestion {
  method: string;
  params: JsonObject;
}

/** The questions of one attempt at a call, by their ids, and the server's state that goes back with the answers. */
export interface QuestionRound {
  questions: { [id: string]: McpServerQuestion };
  state?: string;
}

/** A round with its answers. */
export interface AnsweredRound extends QuestionRound {
  answers: { [id: string]: JsonObject };
}

/** What a host answers. */
export interface McpAnswering {
  sampling: boolean;
  elicitation: boolean;
  /** The answer to `roots/list`, which needs nobody. */
  roots: JsonObject | undefined;
}

const SAMPLING = "sampling/createMessage";
const ELICITATION = "elicitation/create";

/**
 * The questions of servers of the older protocol, which come while a call is running. One that has no answer yet ends the call,
 * because a human may take days to answer; the call is then made again with the answer. Only one call runs at a time where
 * a server may ask, because its questions do not name the call.
 */
export class LegacyQuestions implements ServerRequests {
  readonly capabilities: ServerRequests["capabilities"];
  readonly #answering: McpAnswering;
  #call:
    | { answers: Map<string, JsonObject>; ask: (question: McpServerQuestion) => void }
    | undefined;

  constructor(answering: McpAnswering) {
    this.#answering = answering;
    this.capabilities = {
      ...(answering.sampling && { sampling: {} }),
      ...(answering.elicitation && { elicitation: { form: {} } }),
      ...(answering.roots !== undefined && { roots: {} }),
    };
  }

  register(client: Client): void {
    const { sampling, elicitation, roots } = this.#answering;
    const answer = (method: string, params: unknown) =>
      this.#answer({ method, params: withoutMeta(params as JsonObject) }) as never;
    if (roots !== undefined) client.setRequestHandler("roots/list", () => roots as never);
    if (sampling) client.setRequestHandler(SAMPLING, ({ params }) => answer(SAMPLING, params));
    if (elicitation) {
      client.setRequestHandler(ELICITATION, ({ params }) => answer(ELICITATION, params));
    }
  }

  /**
   * Runs a call, whose questions are answered with those of earlier rounds.
   *
   * @param ask gets the first question without an answer; must end the call
   */
  async during<T>(
    rounds: readonly AnsweredRound[],
    ask: (question: McpServerQuestion) => void,
    call: () => Promise<T>,
  ): Promise<T> {
    const answers = new Map<string, JsonObject>();
    for (const { questions, answers: given } of rounds) {
      for (const [id, question] of Object.entries(questions)) {
        const answer = given[id];
        if (answer !== undefined) answers.set(sortedJson(question), answer);
      }
    }
    this.#call = { answers, ask };
    try {
      return await call();
    } finally {
      this.#call = undefined;
    }
  }

  #answer(question: McpServerQuestion): JsonObject {
    const call = this.#call;
    if (call === undefined) throw new Error("no call is running that this could belong to");
    const answer = call.answers.get(sortedJson(question));
    if (answer !== undefined) return answer;
    call.ask(question);
    if (question.method === ELICITATION) return { action: "cancel" };
    throw new Error("the call ends here and will be made again with the answer");
  }
}

function withoutMeta({ _meta, ...params }: JsonObject): JsonObject {
  return params;
}
