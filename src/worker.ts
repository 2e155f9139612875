import { defaultCatalog } from "./core/component/catalog.ts";
import type { ComponentModel } from "./core/component/component.ts";
import type { LogEntry } from "./core/log.ts";
import type { RequestUsage } from "./core/models/llm-messages.ts";
import type { Runnable } from "./core/run/runnable.ts";
import { compose, type Composition, type Env, log } from "./compose.ts";
import { TroupeTeam } from "./durable/object/team-object.ts";
import { TroupeTenant } from "./durable/tenant/tenant-object.ts";
import type { WebhookRequest, WebhookResponse } from "./outgoing/webhooks.ts";
import { problemResponse } from "./http/problem.ts";

export type { Env } from "./compose.ts";

let composition: Composition | undefined;

/** Made on first use, so that a Worker that wraps this one can first add to the default catalog. @throws ValueError */
function composed(env: Partial<Env>): Composition {
  composition ??= compose(env, { catalog: defaultCatalog });
  return composition;
}

/** A team, as this Worker builds it: a Durable Object whose name is made of tenant and id. */
export class TeamObject extends TroupeTeam<Env> {
  protected build(component: ComponentModel): Runnable {
    return composed(this.env).build(component);
  }

  protected override log(entry: LogEntry, error?: unknown): void {
    composed(this.env).log(entry, error);
  }

  protected override releaseSession(session: string): Promise<void> {
    return composed(this.env).releaseSession(session);
  }

  protected override costOf(model: string, tokens: RequestUsage): number | null {
    return composed(this.env).prices.cost(model, tokens);
  }
}

/** A tenant: its keys, its limits, its webhooks and the directory of its teams. */
export class TenantObject extends TroupeTenant<Env> {
  protected sendWebhook(request: WebhookRequest): Promise<WebhookResponse> {
    return composed(this.env).sendWebhook(request);
  }
}

export default {
  async fetch(request, env) {
    let service: Composition;
    try {
      service = composed(env);
    } catch (error) {
      log(`The settings cannot be used: ${String(error)}`);
      return problemResponse({
        status: 503,
        code: "not_configured",
        detail: "A setting of this server is wrong; its log says which.",
      });
    }
    return service.fetch(request);
  },
} satisfies ExportedHandler<Env>;
