import { ValueError } from "../../core/errors.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";

/** The `AI` binding of a Worker, as far as it is used; Cloudflare's type `Ai` is one. */
export interface WorkersAIBinding {
  run(
    model: string,
    inputs: Record<string, unknown>,
    options: { returnRawResponse: true; signal: AbortSignal },
  ): Promise<unknown>;
}

/** What the host provides for model clients. */
export interface ModelDependencies extends OutgoingDependencies {
  /** Without it there are no models of Workers AI. */
  ai?: WorkersAIBinding | undefined;
}

/** @throws ValueError when there is none */
export function bindingOf({ ai }: ModelDependencies): WorkersAIBinding {
  if (ai === undefined)
    throw new ValueError(
      'the models of Workers AI need the binding AI, and this server has none: add [ai] with binding = "AI" to wrangler.toml',
    );
  return ai;
}
