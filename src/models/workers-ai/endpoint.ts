import { ValueError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Endpoint } from "../http/send.ts";
import type { WorkersAIBinding } from "./binding.ts";
import { type ErrorBody, isUsedUp, saidBy } from "./errors.ts";
import { inputsFrom } from "./inputs.ts";

/**
 * A model of Workers AI. No keys are involved, and the service knows none for idempotency.
 *
 * @param isNative whether the model has the older interface of Workers AI
 */
export function workersAIEndpoint(
  ai: WorkersAIBinding,
  model: string,
  isNative: boolean,
): Endpoint {
  return {
    async post(body, signal) {
      const inputs = inputsFrom(JSON.parse(body) as JsonObject, isNative);
      const answer = await ai.run(model, inputs, { returnRawResponse: true, signal });
      if (!(answer instanceof Response))
        throw new ValueError("the binding AI is not one of Workers AI: it gave no response");
      return answer;
    },
    readError(text) {
      const { message, code } = saidBy(parse(text));
      return { message, code, noCredit: isUsedUp(code) };
    },
    redact: (text) => text,
  };
}

function parse(text: string): ErrorBody {
  try {
    return (JSON.parse(text) ?? {}) as ErrorBody;
  } catch {
    return {};
  }
}
