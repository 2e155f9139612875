import worker, { type Env, TenantObject as DeployedTenant } from "troupe/worker";

export { TeamObject } from "troupe/worker";

const AT_ONCE = 1_000;

/** What the object has for teams. */
interface Outlet {
  deliver(delivery: object): void;
}

/** A tenant that accepts entries of teams that do not exist. */
export class TenantObject extends DeployedTenant {
  fill(first: number, teams: number): void {
    const created_at = new Date().toISOString();
    const facts = { label: null, metadata: {}, provider: "RoundRobinGroupChat" };
    for (let team = first; team < first + teams; team++) {
      const times = { created_at, updated_at: created_at };
      const entry = { ...facts, ...times, component_version: 1 };
      (this as unknown as Outlet).deliver({
        team: `team-${team}`,
        place: null,
        entries: [{ kind: "team", number: 1, team: entry }],
      });
    }
  }
}

interface FillStub {
  fill(first: number, teams: number): Promise<void>;
}

/** The deployed Worker, and `/fill/{tenant}/{teams}` beside it. */
export default {
  async fetch(request, env) {
    const [, tenant, teams] = /\/fill\/([^/]+)\/(\d+)$/.exec(request.url) ?? [];
    if (tenant === undefined || env.TENANT === undefined) return worker.fetch(request, env);
    const stub = env.TENANT.getByName(tenant) as unknown as FillStub;
    for (let first = 0; first < Number(teams); first += AT_ONCE) {
      await stub.fill(first, Math.min(AT_ONCE, Number(teams) - first));
    }
    return new Response(null, { status: 204 });
  },
} satisfies ExportedHandler<Env>;
