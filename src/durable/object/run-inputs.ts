import type { StartRunInput } from "../../contract/gateways/team-gateway.ts";
import { ok, type Result } from "../../contract/result.ts";
import type { SecretPushConfig } from "../../contract/webhooks/push.ts";
import type { RunWebhook } from "../../contract/webhooks/webhook.ts";
import type { Sealer } from "../../secrets/sealer.ts";
import { refuseInput } from "./refusals.ts";

/** Seals the secrets that requests bring with a run, as they are stored. */
export class RunInputs {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  seal(input: StartRunInput): Promise<Result<StartRunInput>> {
    const { webhook, push } = input;
    return refusing(async () => ({
      ...input,
      webhook: webhook && (await this.#webhook(webhook)),
      ...(push && { push: await this.#push(push) }),
    }));
  }

  sealPush(config: SecretPushConfig): Promise<Result<SecretPushConfig>> {
    return refusing(() => this.#push(config));
  }

  async #webhook(webhook: RunWebhook): Promise<RunWebhook> {
    // Without a secret the tenant's signs, which needs SECRETS_KEY as well.
    const sealed = await this.#sealer.seal(webhook.secret ?? "");
    return { ...webhook, secret: webhook.secret && sealed };
  }

  async #push(config: SecretPushConfig): Promise<SecretPushConfig> {
    return { ...config, headers: await this.#sealer.seal(config.headers) };
  }
}

/** What is sealed, or why it cannot be. */
async function refusing<T>(seal: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await seal());
  } catch (error) {
    return refuseInput(error);
  }
}
