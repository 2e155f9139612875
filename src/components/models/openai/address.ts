import { trimEnd } from "../../../core/text/trim-end.ts";
import {
  behindGateway,
  type OutgoingDependencies,
  readEnv,
} from "../../../outgoing/dependencies.ts";
import type { ModelAddress } from "../client/model-address.ts";

/**
 * Providers with an API of OpenAI's kind, and the setting with the key for each, by the prefix of their models' names.
 */
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

/**
 * The server of an OpenAI client: that of `base_url`, otherwise the provider's, otherwise that of OPENAI_BASE_URL or
 * OpenAI. The servers of makers may be behind the gateway of AI_GATEWAY_URL.
 */
export function openAIAddress(
  { model, base_url }: { model: string; base_url?: string | null | undefined },
  dependencies: OutgoingDependencies,
): ModelAddress {
  const maker = MAKERS.find(({ prefix }) => model.startsWith(prefix));
  const url = maker?.url ?? readEnv(dependencies, "OPENAI_BASE_URL") ?? OPENAI_URL;
  return {
    url: base_url ?? behindGateway(url, readEnv(dependencies, "AI_GATEWAY_URL")),
    keyName: maker?.keyName ?? "OPENAI_API_KEY",
  };
}

/** Hosts of OpenAI, including its regional ones. */
const OPENAI_HOSTS = /(^|\.)api\.openai\.com$/;
const AZURE_HOSTS = /\.(openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.com$/;

/** Azure as the operator of models, as OpenTelemetry names it. */
export const AZURE = "azure.ai.openai";

/** True for OpenAI's or Azure's own server, or one that stands in for it by OPENAI_BASE_URL or AI_GATEWAY_URL. */
export function isOpenAIs(url: string, dependencies: OutgoingDependencies): boolean {
  return (
    isOwnHost(url) ||
    trimEnd(url, "/") === trimEnd(openAIAddress({ model: "" }, dependencies).url, "/")
  );
}

/** True for OpenAI's or Azure's own server. */
export function isOwnHost(url: string): boolean {
  const { hostname } = new URL(url);
  return OPENAI_HOSTS.test(hostname) || AZURE_HOSTS.test(hostname);
}

/** The owner of encrypted reasoning from a server: other servers cannot read it, and do not get it. */
export function encrypterOf(url: string, dependencies: OutgoingDependencies): string {
  const { hostname, host } = new URL(url);
  if (AZURE_HOSTS.test(hostname)) return AZURE;
  return isOpenAIs(url, dependencies) ? "openai" : host;
}

/** The server of an Azure client. */
export function azureAddress({ azure_endpoint }: { azure_endpoint: string }): ModelAddress {
  return {
    url: `${trimEnd(azure_endpoint, "/")}/openai`,
    keyName: "AZURE_OPENAI_API_KEY",
  };
}
