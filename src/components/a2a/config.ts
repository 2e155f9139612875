import * as z from "zod";
import { retrySchema } from "../../core/steps/retry-config.ts";
import type { CamelKeys } from "../../core/options/option-names.ts";
import { ValueError } from "../../core/errors.ts";
import { checkHeaders } from "../../outgoing/headers.ts";

export const a2aAgentConfigSchema = z.object({
  name: z.string(),
  description: z.string().default("An agent of another system."),
  /**
   * URL of the agent, below which its card is found at `.well-known/agent-card.json`, or of the card itself (`….json`).
   */
  url: z.string(),
  /** Sent to the host of `url` only. A value may be, or end in, `env:NAME` of a secret. */
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  /** Seconds of work on one message, without the time that a human takes to answer. */
  timeout: z.number().positive().default(600),
  /** The policy of a restart for a message that was being sent. Default `retry`: the same message is sent again. */
  policy: z.enum(["retry", "never", "ask"]).default("retry"),
  /** The time for which requests are repeated while the agent is away. Default: two minutes. */
  retry: retrySchema.nullish(),
});

/** An A2AAgent in code. */
export type A2AAgentOptions = CamelKeys<z.input<typeof a2aAgentConfigSchema>>;

export type A2AAgentConfig = z.output<typeof a2aAgentConfigSchema>;

/** @throws ValueError naming the field that cannot be used */
export function checkConfig({ url, headers }: A2AAgentConfig): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw refused("must be an http:// or https:// URL");
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw refused("must not contain a user name or password: send them in a header");
  }
  checkHeaders(headers ?? {});
}

function refused(message: string): ValueError {
  return new ValueError(`url ${message}`, { issues: [{ path: "url", message }] });
}
