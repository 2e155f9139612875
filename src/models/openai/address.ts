import { ModelError } from "../../core/models/model-error.ts";
import { trimEnd } from "../../core/text/trim-end.ts";
import { type OutgoingDependencies, readEnv, type Secrets } from "../../outgoing/dependencies.ts";

/** Makers with an API of OpenAI's kind, and the setting with the key for it, by how their models' names begin. */
const MAKERS = [
  {
    prefix: "gemini-",
    url: "https://generativelanguage.googleapis.com/v1beta/openai/",
    keyName: "GEMINI_API_KEY",
  },
  { prefix: "claude-", url: "https://api.anthropic.com/v1/", keyName: "ANTHROPIC_API_KEY" },
  { prefix: "Llama-", url: "https://api.llama.com/compat/v1/", keyName: "LLAMA_API_KEY" },
];

const OPENAI_URL = "https://api.openai.com/v1";

/** Where a model is asked. */
export interface ModelAddress {
  url: string;
  /** The setting with the key, where the config gives none. */
  keyName: string;
}

/** The server of an OpenAI client: that of `base_url`, else the maker's, else that of OPENAI_BASE_URL or OpenAI. */
export function openAIAddress(
  { model, base_url }: { model: string; base_url?: string | null | undefined },
  dependencies: OutgoingDependencies,
): ModelAddress {
  const maker = MAKERS.find(({ prefix }) => model.startsWith(prefix));
  return {
    url: base_url ?? maker?.url ?? readEnv(dependencies, "OPENAI_BASE_URL") ?? OPENAI_URL,
    keyName: maker?.keyName ?? "OPENAI_API_KEY",
  };
}

/** The server of an Azure client. */
export function azureAddress({ azure_endpoint }: { azure_endpoint: string }): ModelAddress {
  return {
    url: `${trimEnd(azure_endpoint, "/")}/openai`,
    keyName: "AZURE_OPENAI_API_KEY",
  };
}

/**
 * The key for an address: what the config gives, else the setting's.
 *
 * @param given `api_key` of the config
 * @throws ModelError `auth` when there is none, or the setting's may not be sent to this address
 * @throws TroupeError when the config refers to a secret that does not exist or must not be sent there
 */
export function resolveKey(
  given: string | null | undefined,
  { url, keyName }: ModelAddress,
  secrets: Secrets,
  dependencies: OutgoingDependencies,
): string {
  if (given != null) return secrets.resolve(given);
  const setting = readEnv(dependencies, keyName);
  const host = URL.canParse(url) ? new URL(url).host : url;
  const advice =
    `Give the key of "${host}" as api_key, plain or as a reference such as "env:NAME". ` +
    "If the server needs no key, as many local ones, any text will do.";
  if (setting === undefined)
    throw new ModelError(
      "auth",
      `The model client has no api_key, and ${keyName} is not set. ${advice}`,
    );
  try {
    return secrets.resolve(setting);
  } catch (cause) {
    throw new ModelError(
      "auth",
      `The model client has no api_key, and ${keyName} may not be sent to "${host}". ${advice}`,
      { cause },
    );
  }
}
