import { ValueError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import { Secrets } from "../../../outgoing/dependencies.ts";
import type { ModelEndpoint } from "../http/send.ts";
import type { WorkersAIBinding } from "./binding.ts";

/**
 * A model of Workers AI. Requests have no API key, and the service has no idempotency keys.
 *
 * @param inputsOf the inputs for the body of a request
 */
export function workersAIEndpoint(
  ai: WorkersAIBinding,
  model: string,
  inputsOf: (body: JsonObject) => JsonObject,
): ModelEndpoint {
  return {
    async post(body, signal) {
      const inputs = inputsOf(JSON.parse(body) as JsonObject);
      const answer = await ai.run(model, inputs, { returnRawResponse: true, signal });
      if (!(answer instanceof Response))
        throw new ValueError("the binding AI is not one of Workers AI: it gave no response");
      return answer;
    },
    server: "Workers AI",
    secrets: new Secrets({}, "", {}),
  };
}
