import { version } from "../../package.json";
import type { Principal } from "../api/auth/principal.ts";
import type { JsonObject } from "../core/json.ts";
import type { Composition, Env } from "./compose.ts";
import type { FormatCode } from "../contract/stream/stream-format.ts";
import type { PushBody, RunChange } from "../contract/stream/run-change.ts";
import type { ComponentModel } from "../core/component/component-model.ts";
import type { LogEntry } from "../core/log.ts";
import type { TokenUsage } from "../core/models/request-usage.ts";
import type { EmbeddingClient } from "../core/memory/embedding-client.ts";
import type { Runnable } from "../core/run/runnable.ts";
import { TroupeTeam } from "../team/object/team-object.ts";
import { TroupeMemory } from "../memory/object/memory-object.ts";
import { TroupeTenant } from "../tenant/object/tenant-object.ts";
import type { FileBucket } from "../tenant/files/file-store.ts";
import type { OAuth } from "../tenant/connections/grants.ts";
import type { SecretOwners } from "../secrets/kept-secrets.ts";
import { type Telemetry, telemetryOf } from "../telemetry/telemetry.ts";
import type { Mail } from "../notify/email-message.ts";
import type { WebhookRequest, WebhookResponse } from "../outgoing/webhooks.ts";

/** The parts that the objects share with the rest of their Worker. */
export interface Deployment {
  composed: (env: Env) => Composition;
  /** The settings of the objects. */
  settings: (env: Env) => Env;
}

const NOT_DEPLOYED = "create the class with createTroupe";
const none: Deployment = {
  composed() {
    throw new TypeError(NOT_DEPLOYED);
  },
  settings() {
    throw new TypeError(NOT_DEPLOYED);
  },
};

// Functions, because the constructor of the base class reads settings before a subclass has its private members.

type DeployedObject = DeployedTeam | DeployedTenant | DeployedMemory;

function deploymentOf(object: DeployedObject): Deployment {
  return (object.constructor as unknown as { deployment: Deployment }).deployment;
}

function composedOf(object: DeployedObject, env: Env): Composition {
  return deploymentOf(object).composed(env);
}

/** @param dropped called with the number of spans that were not sent */
function telemetry(
  settings: Readonly<Record<string, unknown>>,
  dropped: (spans: number, reason: string) => void,
): Telemetry | undefined {
  try {
    return telemetryOf(settings, { version, fetch: (...request) => fetch(...request), dropped });
  } catch {
    // A setting is invalid. Every request is answered with that error, and runs continue.
    return undefined;
  }
}

/** A team: a Durable Object named by its tenant and id. */
export class DeployedTeam extends TroupeTeam<Env> {
  protected static deployment = none;

  protected build(component: ComponentModel): Promise<Runnable> {
    return composedOf(this, this.env).build(component);
  }

  protected override secretOwners(): SecretOwners {
    return composedOf(this, this.env).secretOwners;
  }

  protected override format(name: string): Promise<FormatCode> {
    return composedOf(this, this.env).format(name);
  }

  protected override log(entry: LogEntry, error?: unknown): void {
    composedOf(this, this.env).log(entry, error);
  }

  protected override releaseSession(session: string): Promise<void> {
    return composedOf(this, this.env).releaseSession(session);
  }

  protected override costOf(model: string, tokens: TokenUsage): number | null {
    return composedOf(this, this.env).prices.cost(model, tokens);
  }

  protected override telemetry(): Telemetry | undefined {
    return telemetry(this.settings(), (spans, reason) => {
      const team = this.ctx.id.name?.split("/")[1] ?? null;
      this.log({ event: "telemetry_dropped", team, spans, reason });
    });
  }

  protected override settings(): Readonly<Record<string, unknown>> {
    return deploymentOf(this).settings(this.env);
  }
}

/** A tenant: its keys, limits, webhooks and the directory of its teams. */
export class DeployedTenant extends TroupeTenant<Env> {
  protected static deployment = none;

  protected sendWebhook(request: WebhookRequest): Promise<WebhookResponse> {
    return composedOf(this, this.env).sendWebhook(request);
  }

  protected override sendEmail(mail: Mail): ReturnType<Composition["sendEmail"]> {
    return composedOf(this, this.env).sendEmail(mail);
  }

  protected override emailFrom(): string | undefined {
    return composedOf(this, this.env).emailFrom;
  }

  protected override telegramApi(): string {
    return composedOf(this, this.env).telegramApi;
  }

  protected override publicUrl(): string | undefined {
    return composedOf(this, this.env).publicUrl;
  }

  protected respond(caller: JsonObject, request: Request): Promise<Response> {
    return composedOf(this, this.env).respond(caller as unknown as Principal, request);
  }

  protected override bucket(): FileBucket | undefined {
    return this.env.FILES;
  }

  protected oauth(): OAuth {
    return composedOf(this, this.env).oauth;
  }

  protected override telemetry(): Telemetry | undefined {
    return telemetry(this.settings(), (spans, reason) => {
      const { log } = composedOf(this, this.env);
      log({ event: "telemetry_dropped", team: null, spans, reason });
    });
  }

  protected override async pushBody(format: string, change: RunChange): Promise<PushBody> {
    const { pushBody } = await composedOf(this, this.env).format(format);
    return pushBody?.(change) ?? super.pushBody(format, change);
  }

  protected override settings(): Readonly<Record<string, unknown>> {
    return deploymentOf(this).settings(this.env);
  }
}

/** Memories outside of teams: collections of documents. */
export class DeployedMemory extends TroupeMemory<Env> {
  protected static deployment = none;

  protected embedding(component: ComponentModel): Promise<EmbeddingClient> {
    return composedOf(this, this.env).embedding(component);
  }

  protected override secretOwners(): SecretOwners {
    return composedOf(this, this.env).secretOwners;
  }

  protected override get maxBytes(): number {
    return composedOf(this, this.env).maxMemoryBytes;
  }
}
