import { env } from "cloudflare:workers";
import { registerComponent, registerTool } from "troupe";
import app, { TeamObject as Base } from "troupe/worker";
import type { Arming } from "./protocol.ts";
import { StepsAgent } from "./steps-agent.ts";
import { StorageProbe } from "./storage-probe.ts";
import { EFFECT_TOOLS } from "./tools.ts";

for (const tool of EFFECT_TOOLS) registerTool(tool);
registerComponent(StepsAgent.component);

const arming = JSON.parse((env as unknown as { CHAOS: string }).CHAOS) as Arming;

/** The service's own object over a storage that is watched. */
export class TeamObject extends Base {
  constructor(
    ctx: ConstructorParameters<typeof Base>[0],
    bindings: ConstructorParameters<typeof Base>[1],
  ) {
    const storage = new StorageProbe(ctx.storage, arming).wrap();
    Object.defineProperty(ctx, "storage", { value: storage });
    super(ctx, bindings);
  }

  /** Kills lead to recoveries and faults to failures, as expected; any other output is a finding. */
  protected override log(): void {}
}

export default app;
