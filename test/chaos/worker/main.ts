import { env } from "cloudflare:workers";
import { registerComponent, registerTool } from "troupe";
import app, { TeamObject as Team, TenantObject as Tenant } from "troupe/worker";
import type { Arming } from "./protocol.ts";
import { StepsAgent } from "./steps-agent.ts";
import { emit, StorageProbe } from "./storage-probe.ts";
import { EFFECT_TOOLS } from "./tools.ts";

for (const tool of EFFECT_TOOLS) registerTool(tool);
registerComponent(StepsAgent.component);

const arming = JSON.parse((env as unknown as { CHAOS: string }).CHAOS) as Arming;

/** @param prefix what the labels of its writes begin with */
function watch(ctx: DurableObjectState, prefix = ""): void {
  const storage = new StorageProbe(ctx.storage, arming, prefix).wrap();
  Object.defineProperty(ctx, "storage", { value: storage });
}

/** The service's own objects over storages that are watched. */
export class TeamObject extends Team {
  constructor(
    ctx: ConstructorParameters<typeof Team>[0],
    bindings: ConstructorParameters<typeof Team>[1],
  ) {
    watch(ctx);
    super(ctx, bindings);
    emit({ kind: "constructed" });
  }

  /** Kills lead to recoveries and faults to failures, as expected; any other output is a finding. */
  protected log(): void {}
}

export class TenantObject extends Tenant {
  constructor(
    ctx: ConstructorParameters<typeof Tenant>[0],
    bindings: ConstructorParameters<typeof Tenant>[1],
  ) {
    watch(ctx, ctx.id.name === "@registry" ? "registry: " : "tenant: ");
    super(ctx, bindings);
  }
}

export { MemoryObject } from "troupe/worker";
export default app;
