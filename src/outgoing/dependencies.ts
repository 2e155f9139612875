import { TroupeError } from "../core/errors.ts";
import { Redaction } from "../secrets/redaction.ts";
import type { SecretForms } from "../secrets/secret-forms.ts";

export { behindGateway } from "../secrets/ai-gateway.ts";
export { PieceRedaction, type SecretForms } from "../secrets/secret-forms.ts";
export { SANDBOX_HOST } from "../secrets/secret-hosts.ts";

/** The host's parts for requests to other servers. */
export interface OutgoingDependencies {
  /** Default: the global one. */
  fetch?: typeof fetch;
  /** Settings such as `OPENAI_API_KEY`. Default: the environment of the process, where there is one. */
  env?: (name: string) => string | undefined;
  /**
   * The value of a secret.
   * @param ref `env:NAME` as the config has it
   * @param url the destination
   * @throws when the secret does not exist or must not be sent there
   */
  secret?: (ref: string, url: string) => string;
}

/** A setting of the environment; an empty one counts as not set. */
export function readEnv(dependencies: OutgoingDependencies, name: string): string | undefined {
  return (dependencies.env ?? processEnv)(name)?.trim() || undefined;
}

const REFERENCE = /^(Bearer )?(env:[A-Za-z_][A-Za-z0-9_]*)$/;

/** True if a value of a config refers to a secret of the environment: `env:NAME`, `Bearer env:NAME`. */
export function isReference(value: string): boolean {
  return REFERENCE.test(value);
}

/** Looks up the secrets that a config refers to, and removes them and those in the config from texts. */
export class Secrets {
  readonly #dependencies: OutgoingDependencies;
  readonly #url: string;
  readonly #redaction: Redaction;

  /**
   * @param url the destination of the secrets
   * @param config whose secrets are to be redacted, whether or not they are looked up
   */
  constructor(dependencies: OutgoingDependencies, url: string, config: object) {
    this.#dependencies = dependencies;
    this.#url = url;
    this.#redaction = new Redaction(config);
  }

  /**
   * The secret that a value of the config is or refers to.
   *
   * @throws TroupeError when the secret does not exist or must not be sent there
   */
  resolve(value: string): string {
    const [, scheme = "", reference] = REFERENCE.exec(value) ?? [];
    const secret = reference === undefined ? value : this.#lookUp(reference);
    this.remember(secret);
    return scheme + secret;
  }

  /** Redacts a value, too. */
  remember(secret: string): void {
    this.#redaction.remember(secret);
  }

  /** The host that they are sent to, as errors name it. */
  get host(): string {
    return URL.canParse(this.#url) ? new URL(this.#url).host : this.#url;
  }

  /** The forms of the secrets that an answer of a model must not have. */
  get inAnswers(): SecretForms {
    return this.#redaction.inAnswers;
  }

  /** `text` without the secrets. */
  redact(text: string): string {
    return this.#redaction.redact(text);
  }

  #lookUp(reference: string): string {
    const { secret } = this.#dependencies;
    if (secret !== undefined) return secret(reference, this.#url);
    const name = reference.slice("env:".length);
    const value = readEnv(this.#dependencies, name);
    if (value === undefined) {
      throw new TroupeError("secret_not_set", `The secret '${name}' is not set`);
    }
    return value;
  }
}

function processEnv(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}
