import { compose, type Composition, type Env } from "#service/compose.ts";
import type { ComponentModel, JsonObject, Runnable } from "troupe";
import type { TeamMethods } from "#team/object/handlers/team-methods.ts";
import { TroupeTeam } from "#team/object/team-object.ts";
import { InMemory } from "../in-memory.ts";
import { StandIns } from "../stand-ins/stand-ins.ts";
import { parseTrace, type Step, textOf } from "../trace.ts";
import { World } from "../world.ts";
import type { Used } from "./protocol.ts";

/** A trace that is being played: the service with the trace's world around it, and what plays all but teams and agents. */
interface Stage {
  service: Composition;
  world: World;
  inside: InMemory;
}

/** By the address of the trace. The objects of a Worker share its isolate, so they find their stage here. */
const stages = new Map<string, Stage>();

/** A team as the service has it. Its metadata say in which trace it plays. */
export class TeamObject extends TroupeTeam<Env> {
  protected async build(component: ComponentModel): Promise<Runnable> {
    const team = await (this as this & TeamMethods).team();
    const stage = team.ok ? stages.get(textOf(team.value.metadata["trace"])) : undefined;
    if (stage === undefined) throw new Error("the team plays in no trace");
    return stage.service.build(component);
  }

  /** Ends the object: whoever asks for it next finds what is stored. */
  evict(): void {
    this.ctx.abort();
  }
}

export { MemoryObject, TenantObject } from "troupe/worker";

/** Below `/traces/{trace}` stands the API of the service, and beside it what only the harness asks for. */
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const [, trace = "", path = ""] = /^\/traces\/(\w+)(\/.*)?$/.exec(url.pathname) ?? [];
    if (path === "" && request.method === "PUT") {
      stages.set(trace, setUp(await request.text(), env));
      return Response.json({});
    }
    const stage = stages.get(trace);
    if (stage === undefined) return new Response(`there is no trace "${trace}"`, { status: 404 });
    if (path === "" && request.method === "DELETE") {
      stages.delete(trace);
      return Response.json({});
    }
    if (path.startsWith("/v1/")) {
      return stage.service.fetch(new Request(new URL(path + url.search, url), request));
    }
    return harness(stage, path, request, env);
  },
} satisfies ExportedHandler<Env>;

function setUp(text: string, env: Env): Stage {
  const trace = parseTrace(text);
  const standIns = new StandIns(trace);
  const { catalog, adapt } = standIns;
  const world = new World(trace, standIns);
  return { service: compose(env, { catalog, adapt }), world, inside: new InMemory(world) };
}

async function harness(
  { world, inside }: Stage,
  path: string,
  request: Request,
  env: Env,
): Promise<Response> {
  switch (path) {
    case "/use": {
      const { component, hooks } = await request.json<Record<"component" | "hooks", JsonObject>>();
      const { error } = await inside.use(component, hooks);
      const { role = null, model } = world;
      return Response.json({ error, role, component: model } satisfies Used);
    }
    case "/play":
      return Response.json(await inside.play(await request.json<Step>()));
    case "/records":
      return Response.json(await inside.takeRecords());
    case "/evict": {
      const { team } = await request.json<{ team: string }>();
      const stub = env.TEAM.getByName(`local/${team}`) as unknown as Pick<TeamObject, "evict">;
      // It cannot answer any more.
      await Promise.resolve(stub.evict()).catch(() => undefined);
      return Response.json({});
    }
    default:
      return new Response(`the harness has no ${path}`, { status: 404 });
  }
}
