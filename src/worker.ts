import { version } from "../package.json";
import type { ChatAgent } from "./core/agents/chat-agent.ts";
import { defaultCatalog } from "./core/component/catalog.ts";
import type { ComponentModel } from "./core/component/component.ts";
import { coreComponents } from "./core/component/core-components.ts";
import { ComponentRegistry } from "./core/component/registry.ts";
import { ValueError } from "./core/errors.ts";
import { agentRunnable } from "./core/run/agent-runnable.ts";
import type { Runnable } from "./core/run/runnable.ts";
import type { Team } from "./core/teams/team.ts";
import { egressRules, guardedFetch } from "./durable/egress.ts";
import { DurableObjectGateway } from "./durable/gateway.ts";
import { secretResolver, settingOrReference } from "./durable/secret-hosts.ts";
import { TroupeTeam } from "./durable/team-object.ts";
import { createApp } from "./http/app.ts";
import { closed, localOnly } from "./http/auth.ts";
import { limitsFrom } from "./http/limits.ts";
import { problemResponse } from "./http/problem.ts";
import { openAIComponents } from "./models/components.ts";
import { addTemplates } from "./templates/templates.ts";

/** Bindings and settings of the Worker. The limits of src/http/limits.ts are settings, too. */
export type Env = {
  TEAM: DurableObjectNamespace<TeamObject>;
  /** "1" opens the API to requests from this machine, without keys. */
  TROUPE_OPEN?: string;
  /** 32 bytes as base64: what secrets in components are stored with. */
  SECRETS_KEY?: string;
  /** JSON: the hosts that each secret of the Worker may be sent to. */
  SECRET_HOSTS?: string;
  /** The hosts that may be asked, separated by commas. */
  ALLOWED_EGRESS?: string;
  OPENAI_API_KEY?: string;
  OPENAI_BASE_URL?: string;
  OPENAI_MODEL?: string;
};

/** What is the same for every request and team of this isolate. */
interface Composition {
  registry: ComponentRegistry;
  fetch: (request: Request) => Response | Promise<Response>;
}

let composition: Composition | undefined;

/** Made on first use, so that whoever wraps this Worker can add to the default catalog before. @throws ValueError */
function compose(env: Partial<Env>): Composition {
  if (env.TEAM === undefined) {
    throw new ValueError("the Durable Object binding TEAM is missing: wrangler.toml needs it");
  }
  const limits = limitsFrom(env);
  addTemplates(defaultCatalog, {
    model: env.OPENAI_MODEL,
    configured: Boolean(env.OPENAI_API_KEY),
  });
  const registry = new ComponentRegistry({
    depth: limits.max_component_depth,
    components: limits.max_components,
    functions: defaultCatalog,
  }).register(
    ...coreComponents(defaultCatalog),
    ...openAIComponents({
      fetch: guardedFetch(egressRules(env)),
      env: settingOrReference(env),
      secret: secretResolver(env),
    }),
    ...defaultCatalog.components(),
  );
  const app = createApp({
    gateway: new DurableObjectGateway(env.TEAM),
    components: registry,
    templates: defaultCatalog.teams(),
    limits,
    authenticate: env.TROUPE_OPEN === "1" ? localOnly : closed,
    version,
    log,
  });
  return { registry, fetch: (request) => app.fetch(request) };
}

/** A team, as this Worker builds it: a Durable Object whose name is made of tenant and id. */
export class TeamObject extends TroupeTeam<Env> {
  protected build(component: ComponentModel): Runnable {
    composition ??= compose(this.env);
    const built = composition.registry.load<Team | (ChatAgent & { begin?: never })>(component, [
      "team",
      "agent",
    ]);
    return built.begin === undefined ? agentRunnable(built) : built;
  }
}

export default {
  async fetch(request, env) {
    try {
      composition ??= compose(env);
    } catch (error) {
      log(`The settings cannot be used: ${String(error)}`);
      return problemResponse({
        status: 503,
        code: "not_configured",
        detail: "A setting of this server is wrong; its log says which.",
      });
    }
    return composition.fetch(request);
  },
} satisfies ExportedHandler<Env>;

function log(line: string): void {
  // oxlint-disable-next-line no-console -- the log of a Worker
  console.error(line);
}
