import { version } from "../package.json";
import type { ChatAgent } from "./core/agents/chat-agent.ts";
import type { Catalog } from "./core/component/catalog.ts";
import type { FormatCode } from "./contract/stream/stream-format.ts";
import type { ComponentModel } from "./core/component/component-model.ts";
import type { AnyComponentDefinition } from "./core/component/component.ts";
import { componentGroups } from "./component-groups.ts";
import { LazyComponents } from "./core/component/lazy-components.ts";
import { stackOf, ValueError } from "./core/errors.ts";
import type { Log, LogEntry } from "./core/log.ts";
import { asRunnable } from "./core/run/agent-runnable.ts";
import type { Runnable } from "./core/run/runnable.ts";
import type { Team } from "./core/teams/team.ts";
import type { OutgoingDependencies } from "./outgoing/dependencies.ts";
import { checkReferral, egressRules, guardedFetch } from "./outgoing/egress.ts";
import { proxiedFetch } from "./outgoing/egress-proxy.ts";
import {
  checkWebhookUrl,
  type WebhookRequest,
  type WebhookResponse,
  webhookSender,
} from "./outgoing/webhooks.ts";
import { DurableObjectGateway } from "./durable/object/durable-object-gateway.ts";
import type { SecretOwners } from "./secrets/kept-secrets.ts";
import { RedactedSecrets } from "./secrets/redacted-secrets.ts";
import { secretsKeyBytes } from "./secrets/secrets-key.ts";
import { secretResolver, settingOrReference } from "./secrets/secret-hosts.ts";
import { createApp } from "./http/app.ts";
import {
  Credentials,
  type CredentialSources,
  credentialSources,
  isConfigured,
} from "./auth/authenticate.ts";
import type { Authenticate, Principal } from "./auth/principal.ts";
import type { ModelPrices } from "./contract/usage/model-prices.ts";
import { formatLoader, shippedProtocols } from "./protocols/protocols.ts";
import { behindFront, closed, localOnly } from "./auth/local.ts";
import { createdKeyCheck } from "./auth/created-key.ts";
import { DurableObjectTenants } from "./durable/tenant/durable-object-tenants.ts";
import type { Services } from "./http/services.ts";
import type { WorkersAIBinding } from "./models/workers-ai/binding.ts";
import { keyAddressOf } from "./models/key-address.ts";
import { parseSettings } from "./parse-settings.ts";
import type { SettingName } from "./settings.ts";

/** Bindings and settings of the Worker. */
export type Env = {
  TEAM: DurableObjectNamespace;
  /** Without it, keys cannot be created and tenants have no limits of their own. */
  TENANT?: DurableObjectNamespace;
  /** The sandbox as a service binding, instead of SANDBOX_URL. */
  SANDBOX?: Fetcher;
  /** Workers AI. Without it, components that use its models are refused. */
  AI?: WorkersAIBinding;
  /** A data set of Workers Analytics Engine, for metrics. */
  METRICS?: AnalyticsEngineDataset;
  /** The files of the console, as static assets. Without it, there is no console. */
  CONSOLE_FILES?: Fetcher;
  /** Set by `npm start`: requests must carry this key, which only its front server knows. */
  TROUPE_FRONT_KEY?: string;
  /** Set by `npm start`: sends requests to hosts that the settings do not name, to public addresses only. */
  TROUPE_EGRESS_PROXY?: string;
} & { [Name in SettingName]?: string };

/** The parts shared by all requests and teams. */
export interface Composition {
  fetch: (request: Request) => Response | Promise<Response>;
  /** Builds the runtime object of a component. @throws ComponentError */
  build: (component: ComponentModel) => Promise<Runnable>;
  secretOwners: SecretOwners;
  /** Loads what writes streams of a format. @throws TypeError for one that does not exist */
  format: (name: string) => Promise<FormatCode>;
  /** Writes an entry into the log of the Worker; with the error's stack where only the developer sees it. */
  log: Log;
  /** Removes a team's data at external services: its session in the sandbox. @throws when it cannot be reached */
  releaseSession: (session: string) => Promise<void>;
  /** Of the models that calls are made to. */
  prices: ModelPrices;
  /** Sends a delivery of a webhook once; never rejects. */
  sendWebhook: (request: WebhookRequest) => Promise<WebhookResponse>;
}

export interface CompositionOptions {
  /** The additions in code: tools, functions, components, teams to start by name. */
  catalog: Catalog;
  /** Replaces a component definition before it is registered. */
  adapt?: (definition: AnyComponentDefinition) => AnyComponentDefinition;
  /** The caller of a request that the Worker itself sends; undefined for requests from outside. */
  inside?: (request: Request) => Principal | undefined;
  /** Asked before the credentials of the settings; undefined leaves the request to them. */
  authenticate?: ((request: Request) => Promise<Principal | undefined>) | undefined;
}

/** Puts the parts of the service together. @throws ValueError when a setting is wrong */
export function compose(
  env: Partial<Env>,
  { catalog, adapt = (definition) => definition, inside, authenticate }: CompositionOptions,
): Composition {
  const { TEAM, TENANT } = env;
  if (TEAM === undefined) {
    throw new ValueError("the Durable Object binding TEAM is missing: wrangler.toml needs it");
  }
  const settings = parseSettings(env);
  const { limits, prices, webhooks, sandbox } = settings;
  const logEntry: Log = (entry, error) => {
    console[LEVELS[entry.event]](JSON.stringify(entry));
    if (env.TROUPE_OPEN === "1" && error !== undefined) log(stackOf(error));
  };
  const outgoing: OutgoingDependencies = {
    fetch: guardedFetch(settings.egress, fetch, logEntry, publicFetch(env)),
    referral: (from, to) => checkReferral(from, to, settings.egress),
    env: settingOrReference(env),
    secret: secretResolver(env),
  };
  const shipped = shippedCatalog(env, sandbox !== undefined);
  const shippedTools = async () =>
    (await import("./templates/tools/shipped-tools.ts")).shippedTools();
  const groups = componentGroups({
    ...outgoing,
    ai: env.AI,
    catalog,
    sandbox,
    shipped: shippedTools,
  });
  const adapted = groups.map(({ providers, load }) => ({
    providers,
    load: async () => (await load()).map(adapt),
  }));
  const components = new LazyComponents(adapted, catalog.components(), {
    depth: limits.max_component_depth,
    components: limits.max_components,
    functions: catalog,
  });
  const tenants = TENANT && new DurableObjectTenants(TENANT);
  const createdKey = tenants && createdKeyCheck(tenants);
  const credentials = credentialSources(env, issuerFetch(env), createdKey);
  const services: Services = {
    gateway: new DurableObjectGateway(TEAM),
    tenants,
    teamTokens: credentials.teamTokens,
    keySigner: credentials.keySigner,
    files:
      sandbox && (async () => new (await import("./sandbox/deployed.ts")).SessionFiles(sandbox)),
    components,
    redactedSecrets: new RedactedSecrets(env, (component) => keyAddressOf(component, outgoing)),
    templates: async () => [
      ...catalog.teams(),
      ...(await shipped()).teams().filter(({ name }) => catalog.team(name) === undefined),
    ],
    checkWebhookUrl: (url) => checkWebhookUrl(url, webhooks),
    limits,
    prices,
  };
  const protocols = shippedProtocols({
    ...services,
    version,
    log,
    pushNotifications: TENANT !== undefined && secretsKeyBytes(env.SECRETS_KEY) !== undefined,
    a2a: settings.a2a,
  });
  const app = createApp({
    ...services,
    origins: settings.origins,
    requestsPerSecond: settings.tenantLimits.requests_per_second,
    authenticate: insideFirst(inside, authentication(env, credentials, authenticate)),
    protocols: protocols.modules,
    version,
    log,
  });
  return {
    fetch: (request) => app.fetch(request),
    build: async (component) =>
      asRunnable(await components.load<Team | ChatAgent>(component, ["team", "agent"])),
    secretOwners: {
      loadedPaths: (component) => components.loadedPaths(component, ["team", "agent"]),
      keyUrl: (component) => keyAddressOf(component, outgoing)?.url,
    },
    format: formatLoader(protocols.formats),
    log: logEntry,
    prices,
    releaseSession: async (session) => {
      if (sandbox === undefined) return;
      const { SandboxClient } = await import("./sandbox/deployed.ts");
      await new SandboxClient(sandbox).deleteSession(session);
    },
    sendWebhook: webhookSender(webhooks, guardedFetch(webhooks, fetch, logEntry, publicFetch(env))),
  };
}

/** The teams that Troupe ships, imported when the first one is asked for. */
function shippedCatalog(env: Partial<Env>, sandbox: boolean): () => Promise<Catalog> {
  let catalog: Promise<Catalog> | undefined;
  const load = async (): Promise<Catalog> => {
    const { shippedTemplates } = await import("./templates/templates.ts");
    const { OPENAI_MODEL, OPENAI_API_KEY } = env;
    return shippedTemplates({ model: OPENAI_MODEL, configured: Boolean(OPENAI_API_KEY), sandbox });
  };
  return () => (catalog ??= load());
}

/** Local open mode, configured credentials, or none: every request is refused. */
function authentication(
  env: Partial<Env>,
  credentials: CredentialSources,
  own: CompositionOptions["authenticate"],
): Authenticate {
  const configured = own !== undefined || isConfigured(credentials);
  const checked = configured ? new Credentials(credentials).authenticate : closed;
  const standard = env.TROUPE_OPEN === "1" ? localOnly : checked;
  return behindFront(
    env.TROUPE_FRONT_KEY,
    async (request) => (await own?.(request)) ?? (await standard(request)),
  );
}

function insideFirst(
  inside: CompositionOptions["inside"],
  authenticate: Authenticate,
): Authenticate {
  return async (request) => inside?.(request) ?? authenticate(request);
}

/** The operator names the issuer's address, so it is allowed in addition to ALLOWED_EGRESS. */
function issuerFetch(env: Partial<Env>): typeof fetch {
  const { JWT_JWKS_URL } = env;
  const rules = egressRules(env);
  const host = URL.canParse(JWT_JWKS_URL ?? "") ? new URL(JWT_JWKS_URL ?? "").host : undefined;
  const allowed = host === undefined ? rules.allowed : [...(rules.allowed ?? []), host];
  return guardedFetch({ ...rules, allowed }, fetch);
}

function publicFetch({ TROUPE_EGRESS_PROXY }: Partial<Env>): typeof fetch {
  return TROUPE_EGRESS_PROXY === undefined ? fetch : proxiedFetch(TROUPE_EGRESS_PROXY);
}

/** How the log of the Worker shows what happened: a recovery is no error. */
const LEVELS = {
  run_failed: "error",
  run_recovered: "info",
  telemetry_dropped: "warn",
  internal_error: "error",
  settings_refused: "error",
  request_refused: "warn",
} as const satisfies Record<LogEntry["event"], keyof Console>;

/** Writes a line into the log of the Worker. */
export function log(line: string): void {
  // oxlint-disable-next-line no-console -- the log of a Worker
  console.error(line);
}
