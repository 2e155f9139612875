import { version } from "../../package.json";
import type { ChatAgent } from "../core/agents/chat-agent.ts";
import type { Catalog } from "../core/tools/catalog.ts";
import type { DocumentReader } from "../contract/files/documents.ts";
import type { FormatCode } from "../contract/stream/stream-format.ts";
import type { EmbeddingClient } from "../core/memory/embedding-client.ts";
import type { ComponentModel } from "../core/component/component-model.ts";
import type { AnyComponentDefinition } from "../core/component/component.ts";
import { componentGroups } from "../components/component-groups.ts";
import { LazyComponents } from "../core/registry/lazy-components.ts";
import { stackOf, ValueError } from "../core/errors.ts";
import type { Log, LogEntry } from "../core/log.ts";
import { asRunnable } from "../core/agents/agent-runnable.ts";
import type { Runnable } from "../core/run/runnable.ts";
import type { Team } from "../core/teams/team.ts";
import type { OutgoingDependencies } from "../outgoing/dependencies.ts";
import { type EmailBinding, emailSender } from "../outgoing/email.ts";
import { egressRules, type Reach } from "../outgoing/egress.ts";
import { proxiedFetch } from "../outgoing/egress-proxy.ts";
import { guardedFetch, type OutgoingFetch } from "../outgoing/outgoing-fetch.ts";
import {
  checkWebhookUrl,
  type WebhookRequest,
  type WebhookResponse,
  webhookSender,
} from "../outgoing/webhooks.ts";
import type { ScriptRunner } from "../core/skills/script-runner.ts";
import {
  type ContainersBinding,
  sessionContainers,
} from "../components/sandbox/session-containers.ts";
import { StartingSandbox } from "../components/sandbox/starting-sandbox.ts";
import type { SandboxAddress } from "../components/sandbox/client/sandbox-connection.ts";
import { DurableObjectGateway } from "../team/object/durable-object-gateway.ts";
import type { SecretOwners } from "../secrets/kept-secrets.ts";
import { RedactedSecrets } from "../secrets/redacted-secrets.ts";
import { secretsKeyBytes } from "../secrets/secrets-key.ts";
import { secretResolver, settingOrReference } from "../secrets/secret-hosts.ts";
import type { Callers } from "../api/http/access/access-control.ts";
import { createApp } from "../api/http/app.ts";
import type { IncomingEmail } from "../api/inbound/email/receive-mail.ts";
import {
  Credentials,
  type CredentialSources,
  credentialSources,
  isConfigured,
} from "../api/auth/authenticate.ts";
import type { Authenticate, Principal } from "../api/auth/principal.ts";
import type { ModelPrices } from "../contract/usage/model-prices.ts";
import { formatLoader, shippedProtocols } from "../api/protocols/protocols.ts";
import { behindFront, closed, localOnly } from "../api/auth/local.ts";
import type { Tenants } from "../contract/gateways/tenant-gateway.ts";
import type { VectorService } from "../memory/vectors/vector-service.ts";
import { DurableObjectMemories } from "../memory/object/durable-object-memories.ts";
import { DurableObjectTenants } from "../tenant/object/durable-object-tenants.ts";
import type { OAuth } from "../tenant/connections/grants.ts";
import type { Services } from "../api/http/endpoint/services.ts";
import type { WorkerLoaderBinding } from "../components/worker-loader/worker-loader.ts";
import type { WorkersAIBinding } from "../components/models/workers-ai/binding.ts";
import { keyAddressOf } from "../components/models/key-address.ts";
import { codeChoice } from "./code-choice.ts";
import { parseSettings, unknownLimits } from "./parse-settings.ts";
import type { SettingName } from "./settings.ts";

/** Bindings and settings of the Worker. */
export type Env = {
  TEAM: DurableObjectNamespace;
  /** Without it, keys cannot be created and tenants have no limits of their own. */
  TENANT?: DurableObjectNamespace;
  /** Without it, there are no collections, and no memories of users and tenants. */
  MEMORY?: DurableObjectNamespace;
  /** The sandbox as a service binding, instead of SANDBOX_URL. */
  SANDBOX?: Fetcher;
  /** The objects of `sandbox/cloudflare`, with a container for each session. */
  CONTAINERS?: ContainersBinding;
  /** Dynamic Workers, which run JavaScript. */
  LOADER?: WorkerLoaderBinding;
  /** Workers AI. Without it, components that use its models are rejected. */
  AI?: WorkersAIBinding;
  /** An index of Vectorize, for objects of memories with many vectors. */
  VECTORIZE?: VectorService;
  /** The binding send_email. Without it, no e-mail is sent. */
  SEND_EMAIL?: EmailBinding;
  /** A bucket of R2 for files that are uploaded over OpenAI's API. Without it, they are in the objects of their tenants. */
  FILES?: R2Bucket;
  /** A data set of Workers Analytics Engine, for metrics. */
  METRICS?: AnalyticsEngineDataset;
  /** The files of the console, as static assets. Without it, there is no console. */
  CONSOLE_FILES?: Fetcher;
  /** Set by `npm start`: requests must carry this key, which only its front server knows. */
  TROUPE_FRONT_KEY?: string;
  /** Set by `npm start`: a proxy that sends requests to host names, and only to allowed addresses. */
  TROUPE_EGRESS_PROXY?: string;
} & { [Name in SettingName]?: string };

/** The parts shared by all requests and teams. */
export interface Composition {
  fetch: (request: Request) => Response | Promise<Response>;
  /** Answers a request in the name of a caller that was authenticated before. */
  respond: (caller: Principal, request: Request) => Promise<Response>;
  /** Takes an e-mail to the address of a trigger. */
  email: (message: IncomingEmail) => Promise<void>;
  /** Builds the runtime object of a component. @throws ComponentError */
  build: (component: ComponentModel) => Promise<Runnable>;
  /** Builds an embedding client. @throws ComponentError */
  embedding: (component: ComponentModel) => Promise<EmbeddingClient>;
  secretOwners: SecretOwners;
  /** Loads the encoder of a stream format. @throws TypeError for an unknown format */
  format: (name: string) => Promise<FormatCode>;
  /** Writes an entry to the Worker's log, with the error's stack if only the developer reads it. */
  log: Log;
  /** Removes a team's data at external services: its session in the sandbox. @throws when it cannot be reached */
  releaseSession: (session: string) => Promise<void>;
  /** The bytes that an object of memories may store. */
  maxMemoryBytes: number;
  /** The names of the models that are called. */
  prices: ModelPrices;
  /** The address at which browsers reach the service, by its setting. */
  publicUrl: string | undefined;
  /** OAuth for the logins of tenants at MCP servers. */
  oauth: OAuth;
  /** Sends a delivery of a webhook once; never rejects. */
  sendWebhook: (request: WebhookRequest) => Promise<WebhookResponse>;
  /** Sends an e-mail once; never rejects. */
  sendEmail: ReturnType<typeof emailSender>;
  /** The sender of e-mails; undefined where none are sent. */
  emailFrom: string | undefined;
  /** The server of Telegram's bots. */
  telegramApi: string;
}

export interface CompositionOptions {
  /** Tools, functions, components and templates registered in code. */
  catalog: Catalog;
  /** Replaces a component definition before it is registered. */
  adapt?: ((definition: AnyComponentDefinition) => AnyComponentDefinition) | undefined;
  /** The callers of requests that the Worker sends itself. */
  callers?: Callers;
  /** Reads documents, instead of the sandbox. */
  documents?: (() => Promise<DocumentReader>) | undefined;
  /** The path of the service, which clients of OAuth are given. */
  basePath?: string;
  /** Called before the credentials of the settings are checked; undefined leaves the request to them. */
  authenticate?: ((request: Request) => Promise<Principal | undefined>) | undefined;
}

/** Composes the parts of the service. @throws ValueError for an invalid setting */
export function compose(
  env: Partial<Env>,
  {
    catalog,
    adapt = (definition) => definition,
    callers,
    authenticate,
    documents,
    basePath = "",
  }: CompositionOptions,
): Composition {
  const { TEAM, TENANT, MEMORY } = env;
  if (TEAM === undefined) {
    throw new ValueError("the Durable Object binding TEAM is missing: wrangler.toml needs it");
  }
  const settings = parseSettings(env);
  const { limits, prices, currency, webhooks } = settings;
  const local = env.TROUPE_FRONT_KEY !== undefined;
  const starting = local && settings.sandbox && new StartingSandbox(settings.sandbox);
  const code = codeChoice({
    CODE: env.CODE,
    LOADER: env.LOADER,
    containers: env.CONTAINERS && sessionContainers(env.CONTAINERS),
    service: starting ? starting.address : settings.sandbox,
    local,
  });
  const { sandbox } = code;
  const logEntry: Log = (entry, error) => {
    console[LEVELS[entry.event]](JSON.stringify(entry));
    if (env.TROUPE_OPEN === "1" && error !== undefined) log(stackOf(error));
  };
  for (const detail of unknownLimits(env)) logEntry({ event: "setting_unknown", detail });
  const baseUrl = ({ url }: Pick<Request, "url">): string =>
    settings.publicUrl ?? new URL(url).origin + basePath;
  const outgoing: OutgoingDependencies & { fetch: OutgoingFetch } = {
    fetch: guardedFetch(settings.egress, fetch, logEntry, resolvingFetch(env)),
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
    javascript: code.javascript,
    shipped: shippedTools,
  });
  const adapted = groups.map(({ providers, load }) => ({
    providers,
    load: async () => (await load()).map(adapt),
  }));
  const components = new LazyComponents(adapted, catalog.components(), {
    depth: limits.max_component_depth,
    components: limits.max_components,
    hasMemories: MEMORY !== undefined,
    functions: catalog,
    skills: catalog,
    ...(sandbox && { scripts: lazyScripts(sandbox) }),
  });
  const tenants = TENANT && new DurableObjectTenants(TENANT, limits.max_stream_cpu_ms);
  const createdKey = tenants && createdKeyCheck(tenants);
  const hasKey = tenants && ((tenant: string, id: string) => tenants.tenant(tenant).hasKey(id));
  const credentials = credentialSources(env, issuerFetch(env), { createdKey, hasKey });
  const emailFrom = env.SEND_EMAIL === undefined ? undefined : settings.emailFrom;
  const secretsKey = secretsKeyBytes(env.SECRETS_KEY);
  const services: Services = {
    gateway: new DurableObjectGateway(TEAM, limits.max_stream_cpu_ms),
    tenants,
    memories: MEMORY && new DurableObjectMemories(MEMORY),
    teamTokens: credentials.teamTokens,
    keySigner: credentials.keySigner,
    files:
      sandbox &&
      (async () => new (await import("../components/sandbox/deployed.ts")).SessionFiles(sandbox)),
    fetch: (url, { signal }) => outgoing.fetch(url, { signal, namedBy: null, limit: "own" }),
    documents:
      documents ??
      (sandbox &&
        (async () =>
          new (await import("../components/sandbox/deployed.ts")).SandboxDocuments(sandbox))),
    components,
    redactedSecrets: new RedactedSecrets(env, (component) => keyAddressOf(component, outgoing)),
    templates: async () => [
      ...catalog.teams(),
      ...(await shipped()).teams().filter(({ name }) => catalog.team(name) === undefined),
    ],
    checkWebhookUrl: (url) => checkWebhookUrl(url, webhooks),
    notifications: { telegramApi: settings.telegramApi, sendsEmail: emailFrom !== undefined },
    answerLinks:
      secretsKey &&
      (async () => new (await import("../notify/answer-links.ts")).AnswerLinks(secretsKey)),
    health: async () => ({
      code: code.place,
      ...(local && { sandbox: starting && sandbox ? await starting.state() : "off" }),
    }),
    baseUrl,
    emailDomain: settings.emailDomain,
    limits,
    models: async (known) =>
      (await import("./offered-models.ts")).offeredModels(known, {
        env,
        prices,
        keyName: (component) => keyAddressOf(component, outgoing)?.keyName,
      }),
    prices,
    currency,
    hasSkill: (name) => catalog.skill(name) !== undefined,
  };
  const protocols = shippedProtocols({
    ...services,
    version,
    log,
    pushNotifications: TENANT !== undefined && secretsKey !== undefined,
    a2a: settings.a2a,
    mcp: settings.mcp,
    runView: env.CONSOLE_FILES && runViewFile(env.CONSOLE_FILES),
  });
  const known = new WeakMap<Request, Principal>();
  const app = createApp({
    ...services,
    origins: settings.origins,
    requestsPerSecond: settings.tenantLimits.requests_per_second,
    resources: { issuer: credentials.identityTokens?.issuer, baseUrl },
    authenticate: authentication(env, credentials, authenticate, settings.origins.origins),
    callers: { get: (request) => known.get(request) ?? callers?.get(request) },
    protocols: [
      ...protocols.modules,
      {
        below: ["/in"],
        load: async () => (await import("../api/inbound/endpoints.ts")).inboundEndpoints(services),
      },
    ],
    version,
    log,
  });
  return {
    fetch: (request) => app.fetch(request),
    respond: async (caller, request) => {
      known.set(request, caller);
      return app.fetch(request);
    },
    email: async (message) => {
      const { receiveMail } = await import("../api/inbound/email/receive-mail.ts");
      return receiveMail(message, services);
    },
    build: async (component) =>
      asRunnable(await components.load<Team | ChatAgent>(component, ["team", "agent"])),
    embedding: (component) =>
      components.load<EmbeddingClient>(component, ["embedding"], "embedding"),
    maxMemoryBytes: limits.max_memory_bytes,
    secretOwners: {
      loadedPaths: (component) => components.loadedPaths(component, ["team", "agent", "embedding"]),
      keyUrl: (component) => keyAddressOf(component, outgoing)?.url,
    },
    format: formatLoader(protocols.formats),
    log: logEntry,
    prices,
    releaseSession: async (session) => {
      if (sandbox === undefined) return;
      const { SandboxClient } = await import("../components/sandbox/deployed.ts");
      await new SandboxClient(sandbox).deleteSession(session);
    },
    publicUrl: settings.publicUrl,
    oauth: lazyOAuth(outgoing),
    sendWebhook: webhookSender(
      webhooks,
      guardedFetch(webhooks, fetch, logEntry, resolvingFetch(env)),
    ),
    sendEmail: emailSender(env.SEND_EMAIL),
    emailFrom,
    telegramApi: settings.telegramApi,
  };
}

/** The page that MCP clients show with a run: a file of the console, read once. */
function runViewFile(files: Fetcher): () => Promise<string | undefined> {
  let page: string | undefined;
  return async () => {
    if (page !== undefined) return page;
    const file = await files.fetch("https://console/run-view.txt");
    // A build of an earlier version has no such file.
    page = file.ok ? await file.text() : undefined;
    if (!file.ok) await file.body?.cancel();
    return page;
  };
}

/** Imported with the first script of a skill. */
function lazyScripts(sandbox: SandboxAddress): ScriptRunner {
  return {
    async run(call, attempt) {
      const { SandboxScripts } = await import("../components/sandbox/deployed.ts");
      return new SandboxScripts(sandbox).run(call, attempt);
    },
  };
}

/** Imported with the first login. */
function lazyOAuth(outgoing: OutgoingDependencies): OAuth {
  const load = async (): Promise<OAuth> => {
    const { OAuthClient } = await import("../components/mcp/login/oauth-client.ts");
    return new OAuthClient(outgoing);
  };
  return {
    tokens: async (...wanted) => (await load()).tokens(...wanted),
    redeem: async (...back) => (await load()).redeem(...back),
    revoke: async (...grant) => (await load()).revoke(...grant),
  };
}

/** The teams that Troupe ships, imported when the first one is requested. */
function shippedCatalog(env: Partial<Env>, sandbox: boolean): () => Promise<Catalog> {
  let catalog: Promise<Catalog> | undefined;
  const load = async (): Promise<Catalog> => {
    const { shippedTemplates } = await import("./templates/templates.ts");
    const { OPENAI_MODEL, OPENAI_API_KEY } = env;
    return shippedTemplates({ model: OPENAI_MODEL, configured: Boolean(OPENAI_API_KEY), sandbox });
  };
  return () => (catalog ??= load());
}

/** Open to local requests, checked against credentials, or closed: every request is refused. */
function authentication(
  env: Partial<Env>,
  credentials: CredentialSources,
  own: CompositionOptions["authenticate"],
  origins: ReadonlySet<string>,
): Authenticate {
  const configured = own !== undefined || isConfigured(credentials);
  const checks = new Credentials(credentials);
  const checked = configured ? checks.authenticate : closed;
  const standard = env.TROUPE_OPEN === "1" ? localOnly(origins, checks.authenticateSent) : checked;
  return behindFront(
    env.TROUPE_FRONT_KEY,
    own === undefined
      ? standard
      : async (request) => (await own(request)) ?? (await standard(request)),
  );
}

/** The operator sets the address of the issuer's keys, so it is allowed in addition to ALLOWED_EGRESS, wherever it is. */
function issuerFetch(env: Partial<Env>): OutgoingFetch {
  const rules = egressRules(env);
  const keys = URL.parse(env.JWT_JWKS_URL ?? "");
  if (keys === null) return guardedFetch(rules, fetch);
  const port = keys.port || (keys.protocol === "http:" ? "80" : "443");
  const entry = `${keys.protocol}//${keys.hostname}:${port}`;
  const allowed = [...(rules.allowed ?? []), entry];
  return guardedFetch({ ...rules, allowed, exact: [entry] }, fetch);
}

function resolvingFetch({
  TROUPE_EGRESS_PROXY: proxy,
}: Partial<Env>): (reach: Reach) => typeof fetch {
  return (reach) => (proxy === undefined ? fetch : proxiedFetch(proxy, reach));
}

/** The log level of an event. A recovery is not an error. */
const LEVELS = {
  run_failed: "error",
  run_recovered: "info",
  remote_work_left: "warn",
  telemetry_dropped: "warn",
  limits_unchecked: "warn",
  internal_error: "error",
  settings_refused: "error",
  setting_unknown: "warn",
  request_refused: "warn",
} as const satisfies Record<LogEntry["event"], keyof Console>;

/** Writes a line to the Worker's log. */
export function log(line: string): void {
  // oxlint-disable-next-line no-console -- the log of a Worker
  console.error(line);
}

/** Asks the tenant's object about keys that were made over the API. */
function createdKeyCheck(tenants: Tenants): NonNullable<CredentialSources["createdKey"]> {
  return async (tenant, id, hash) => {
    const key = await tenants.tenant(tenant).verifyKey(id, hash);
    if (key === null) return undefined;
    const { name, scopes, expires_at } = key;
    return { id: `created:${id}`, tenant, scopes, kind: "created", name, expires_at, key: id };
  };
}
