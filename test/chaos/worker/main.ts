import { env } from "cloudflare:workers";
import { registerComponent, registerTool } from "troupe";
import app, {
  type Env,
  MemoryObject as Memory,
  TeamObject as Team,
  TenantObject as Tenant,
} from "troupe/worker";
import { type Arming, type ResetPoint, RESETS_PATH } from "./protocol.ts";
import { countCalls, objectName, resets } from "./resets.ts";
import { StepsAgent } from "./steps-agent.ts";
import { emit, StorageProbe } from "./storage-probe.ts";
import { EFFECT_TOOLS } from "./tools.ts";

for (const tool of EFFECT_TOOLS) registerTool(tool);
registerComponent(StepsAgent.component);

const arming = JSON.parse((env as unknown as { CHAOS: string }).CHAOS) as Arming;

type Given = ConstructorParameters<typeof Team>;

/** @param prefix what the labels of its writes begin with */
function watch(type: string, ctx: DurableObjectState, prefix = ""): void {
  const object = objectName(type, ctx);
  const onWrite = (what: string): void => void resets.reach(ctx, object, what);
  const storage = new StorageProbe(ctx.storage, arming, prefix, onWrite).wrap();
  Object.defineProperty(ctx, "storage", { value: storage });
}

/** The service's own objects over storages that are watched. */
export class TeamObject extends Team {
  constructor(...given: Given) {
    watch("TeamObject", given[0]);
    super(...given);
    emit({ kind: "constructed" });
  }

  /** Kills lead to recoveries and faults to failures, as expected; any other output is a finding. */
  protected log(): void {}
}

export class TenantObject extends Tenant {
  constructor(...given: Given) {
    const [ctx] = given;
    watch("TenantObject", ctx, ctx.id.name === "@registry" ? "registry: " : "tenant: ");
    super(...given);
  }
}

export class MemoryObject extends Memory {
  constructor(...given: Given) {
    watch("MemoryObject", given[0], "memory: ");
    super(...given);
  }
}

countCalls("TeamObject", TeamObject);
countCalls("TenantObject", TenantObject);
countCalls("MemoryObject", MemoryObject);

export default {
  async fetch(request: Request, bindings: Env): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname !== RESETS_PATH) return app.fetch(request, bindings);
    if (request.method === "GET") {
      return Response.json(resets.passed(url.searchParams.get("tenant") ?? ""));
    }
    resets.arm(await request.json<ResetPoint>());
    return new Response(null, { status: 204 });
  },
};
