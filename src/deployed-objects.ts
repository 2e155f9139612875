import type { Composition, Env } from "./compose.ts";
import type { ComponentModel } from "./core/component/component.ts";
import type { LogEntry } from "./core/log.ts";
import type { RequestUsage } from "./core/models/llm-messages.ts";
import type { Runnable } from "./core/run/runnable.ts";
import { TroupeTeam } from "./durable/object/team-object.ts";
import { TroupeTenant } from "./durable/tenant/tenant-object.ts";
import type { WebhookRequest, WebhookResponse } from "./outgoing/webhooks.ts";

/** What the objects share with the rest of their Worker. */
export interface Deployment {
  composed: (env: Env) => Composition;
  /** The settings that hold for the objects. */
  settings: (env: Env) => Env;
}

const NOT_DEPLOYED = "make the class with createTroupe";
const none: Deployment = {
  composed() {
    throw new TypeError(NOT_DEPLOYED);
  },
  settings() {
    throw new TypeError(NOT_DEPLOYED);
  },
};

/** A team: a Durable Object whose name is made of tenant and id. */
export class DeployedTeam extends TroupeTeam<Env> {
  protected static deployment = none;

  protected build(component: ComponentModel): Runnable {
    return this.#composed.build(component);
  }

  protected override log(entry: LogEntry, error?: unknown): void {
    this.#composed.log(entry, error);
  }

  protected override releaseSession(session: string): Promise<void> {
    return this.#composed.releaseSession(session);
  }

  protected override costOf(model: string, tokens: RequestUsage): number | null {
    return this.#composed.prices.cost(model, tokens);
  }

  protected override settings(): Readonly<Record<string, unknown>> {
    return this.#deployment.settings(this.env);
  }

  get #composed(): Composition {
    return this.#deployment.composed(this.env);
  }

  get #deployment(): Deployment {
    return (this.constructor as typeof DeployedTeam).deployment;
  }
}

/** A tenant: its keys, its limits, its webhooks and the directory of its teams. */
export class DeployedTenant extends TroupeTenant<Env> {
  protected static deployment = none;

  protected sendWebhook(request: WebhookRequest): Promise<WebhookResponse> {
    return this.#deployment.composed(this.env).sendWebhook(request);
  }

  protected override settings(): Readonly<Record<string, unknown>> {
    return this.#deployment.settings(this.env);
  }

  get #deployment(): Deployment {
    return (this.constructor as typeof DeployedTenant).deployment;
  }
}
