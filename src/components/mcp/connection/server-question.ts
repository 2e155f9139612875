import type { JsonObject } from "../../../core/json.ts";

/** A request of a server to its client during a call. */
export interface McpServerQuestion {
  method: string;
  params: JsonObject;
}

/** The questions of one attempt at a call, by their ids, and the server's state to send back with the answers. */
export interface QuestionRound {
  questions: { [id: string]: McpServerQuestion };
  state?: string;
}

/** A round with its answers. */
export interface AnsweredRound extends QuestionRound {
  answers: { [id: string]: JsonObject };
}

/** A host's answer. */
export interface McpAnswering {
  sampling: boolean;
  elicitation: boolean;
  /** The answer to `roots/list`, which needs no human. */
  roots: JsonObject | undefined;
}
