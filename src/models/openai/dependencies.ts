import { ModelError } from "../../core/models/model-error.ts";

/** What a client gets from whoever hosts it. */
export interface OpenAIDependencies {
  /** Default: the global one. */
  fetch?: typeof fetch;
  /** Settings such as `OPENAI_API_KEY`. Default: the environment of the process, where there is one. */
  env?: (name: string) => string | undefined;
  /**
   * The value of a secret.
   * @param ref `env:NAME` as the config has it
   * @param url where it would be sent to
   * @throws when the secret does not exist or must not be sent there
   */
  secret?: (ref: string, url: string) => string;
}

const REFERENCE = /^(Bearer )?(env:[A-Za-z_][A-Za-z0-9_]*)$/;

/** Looks up what configs only name, and remembers the values so that they can be kept out of messages. */
export class Secrets {
  readonly #dependencies: OpenAIDependencies;
  readonly #url: string;
  readonly #values = new Set<string>();

  /** @param url where the secrets will be sent to */
  constructor(dependencies: OpenAIDependencies, url: string) {
    this.#dependencies = dependencies;
    this.#url = url;
  }

  /** A value of the config, with the secret it refers to, if any, in its place. */
  resolve(value: string): string {
    const [, scheme = "", reference] = REFERENCE.exec(value) ?? [];
    const secret = reference === undefined ? value : this.#lookUp(reference);
    this.#values.add(secret);
    return scheme + secret;
  }

  /** `text` without the secrets, and without anything that looks like a key. */
  redact(text: string): string {
    let redacted = text.replace(/\b(sk|gsk|xai|key)-[A-Za-z0-9_*-]{8,}/g, "[redacted]");
    for (const value of this.#values)
      if (value.length >= 4) redacted = redacted.replaceAll(value, "[redacted]");
    return redacted;
  }

  #lookUp(reference: string): string {
    const { secret } = this.#dependencies;
    if (secret !== undefined) return secret(reference, this.#url);
    const name = reference.slice("env:".length);
    const value = readEnv(this.#dependencies, name);
    if (value === undefined) throw new ModelError("auth", `The secret '${name}' is not set`);
    return value;
  }
}

/** A setting of the environment; an empty one counts as not set. */
export function readEnv(dependencies: OpenAIDependencies, name: string): string | undefined {
  return (dependencies.env ?? processEnv)(name)?.trim() || undefined;
}

function processEnv(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}
