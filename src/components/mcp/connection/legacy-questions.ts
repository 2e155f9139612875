import type { Client } from "@modelcontextprotocol/client";
import { jsonObjectSchema } from "../../../core/json-object.ts";
import { type JsonObject, sortedJson } from "../../../core/json.ts";
import type { AnsweredRound, McpAnswering, McpServerQuestion } from "./server-question.ts";
import type { ServerRequests } from "./session.ts";

const SAMPLING = "sampling/createMessage";
const ELICITATION = "elicitation/create";

/**
 * The questions of servers of the older protocol, which arrive during a call. A question without an answer ends the
 * call, because a human may take days to answer; the call is then repeated with the answer. Only one call runs at a
 * time if a server may ask, because its questions do not name the call.
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
      ...(answering.elicitation && { elicitation: { form: {}, url: {} } }),
      ...(answering.roots !== undefined && { roots: {} }),
    };
  }

  register(client: Client): void {
    const { sampling, elicitation, roots } = this.#answering;
    // The client's own types of requests and answers are closed; with these it checks both all the same.
    const schemas = { params: jsonObjectSchema };
    const answer = (method: string) => (params: JsonObject) =>
      this.#answer({ method, params: withoutMeta(params) });
    if (roots !== undefined) client.setRequestHandler("roots/list", schemas, () => roots);
    if (sampling) client.setRequestHandler(SAMPLING, schemas, answer(SAMPLING));
    if (elicitation) client.setRequestHandler(ELICITATION, schemas, answer(ELICITATION));
  }

  /**
   * Runs a call whose questions are answered with those of earlier rounds.
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
