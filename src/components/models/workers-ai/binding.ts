import { ValueError } from "../../../core/errors.ts";
import type { OutgoingDependencies } from "../../../outgoing/dependencies.ts";

/** The used part of a Worker's `AI` binding; Cloudflare's type `Ai` implements it. */
export interface WorkersAIBinding {
  run(
    model: string,
    inputs: Record<string, unknown>,
    options: { returnRawResponse: true; signal: AbortSignal },
  ): Promise<unknown>;
}

/** Dependencies of model clients on their host. */
export interface ModelDependencies extends OutgoingDependencies {
  /** Without it there are no models of Workers AI. */
  ai?: WorkersAIBinding | undefined;
}

/** @throws ValueError without the binding */
export function bindingOf({ ai }: ModelDependencies): WorkersAIBinding {
  if (ai === undefined)
    throw new ValueError(
      'the models of Workers AI need the binding AI, and this server has none: add [ai] with binding = "AI" to wrangler.toml',
    );
  return ai;
}
