import type { ComponentRoles } from "../../../core/component/checks/find-issues.ts";
import type { Note } from "../../../core/component/component.ts";
import type { Inspected, KnownComponent } from "../../../core/registry/registry.ts";
import type { Template } from "../../../core/component/template.ts";
import type { ModelInfo } from "../../../core/models/model-info.ts";
import type { Health } from "../../../contract/commands/health.ts";
import type { DocumentReader } from "../../../contract/files/documents.ts";
import type { OfferedModel } from "../../../contract/team.ts";
import type { ModelPrices } from "../../../contract/usage/model-prices.ts";
import type { Memories } from "../../../contract/gateways/memory-gateway.ts";
import type { Gateway } from "../../../contract/gateways/team-gateway.ts";
import type { WorkspaceFiles } from "../../../contract/files/workspace-files.ts";
import type { AnswerLinks } from "../../../notify/answer-links.ts";
import type { RedactedSecrets } from "../../../secrets/redacted-secrets.ts";
import type { KeySigner } from "../../auth/api-key.ts";
import type { Principal } from "../../auth/principal.ts";
import type { TeamTokens } from "../../auth/team-token.ts";
import type { TenantGateway, Tenants } from "../../../contract/gateways/tenant-gateway.ts";
import type { Limits } from "./limits.ts";
import { ProblemError } from "./problem.ts";

/** Checks the components of requests: a `ComponentRegistry`, or one whose code is imported by name. */
export interface Components {
  prepare<T>(model: T, path?: string): Promise<T>;
  inspect(model: unknown, roles?: ComponentRoles, path?: string): Inspected | Promise<Inspected>;
  modelInfos(model: unknown): ModelInfo[] | Promise<ModelInfo[]>;
  notes(model: unknown): Note[] | Promise<Note[]>;
  definitions(): KnownComponent[] | Promise<KnownComponent[]>;
}

/** The services that routes use. */
export interface Services {
  gateway: Gateway;
  /** Undefined without the binding TENANT. */
  tenants: Tenants | undefined;
  /** Undefined without the binding MEMORY. */
  memories: Memories | undefined;
  /** Undefined without a valid SECRETS_KEY. */
  teamTokens: TeamTokens | undefined;
  /** Signs created keys; undefined without a valid secret for it. */
  keySigner: KeySigner | undefined;
  /** Undefined without a sandbox. */
  files: (() => Promise<WorkspaceFiles>) | undefined;
  /** The place in which code runs, and on a machine of one's own the state of the sandbox. */
  health: () => Promise<Omit<Health, "status">>;
  /** Sends requests for the files of messages, as the outgoing rules allow. The caller limits what it reads. */
  fetch: (url: string, init: { signal: AbortSignal }) => Promise<Response>;
  /** Reads what PDFs say, for models that do not read PDF; undefined where nothing can. */
  documents: (() => Promise<DocumentReader>) | undefined;
  components: Components;
  templates: () => Promise<readonly Template[]>;
  /** Puts references in the place of secrets that a dump has redacted. */
  redactedSecrets: Pick<RedactedSecrets, "resolve">;
  /** @throws EgressError when no webhook may be sent there */
  checkWebhookUrl: (url: string) => void;
  /** The server of Telegram's bots, and whether e-mails are sent. */
  notifications: { telegramApi: string; sendsEmail: boolean };
  /** Reads links that answer; undefined without a valid SECRETS_KEY. */
  answerLinks: (() => Promise<AnswerLinks>) | undefined;
  /** The address at which browsers reach the service, without a slash at its end. */
  baseUrl: (request: Request) => string;
  /** The domain of the e-mail addresses of triggers; undefined where none is set. */
  emailDomain: string | undefined;
  limits: Limits;
  /** The models that a class of model clients can name; none for other classes. */
  models: (known: KnownComponent) => Promise<readonly OfferedModel[]>;
  prices: Pick<ModelPrices, "empty">;
  /** True if a skill of this name was registered in code. */
  hasSkill: (name: string) => boolean;
  /** The currency of the prices; null if the setting is missing. */
  currency: string | null;
}

/** The services that read messages of requests. */
export type MessageServices = Pick<
  Services,
  "limits" | "fetch" | "files" | "components" | "documents"
>;

/** @throws ProblemError 503 without the binding TENANT */
export function tenantsOf({ tenants }: Pick<Services, "tenants">): Tenants {
  if (tenants !== undefined) return tenants;
  throw new ProblemError({
    status: 503,
    code: "tenants_not_configured",
    detail: "The Durable Object binding TENANT is missing: wrangler.toml needs it.",
  });
}

/** @throws ProblemError 503 without the binding TENANT */
export function tenantOf(services: Pick<Services, "tenants">, id: string): TenantGateway {
  return tenantsOf(services).tenant(id);
}

/** The lists over the teams of a tenant, or over those that a principal may reach. */
type TenantLists = Pick<
  TenantGateway,
  "teams" | "runs" | "failures" | "requests" | "usageReport" | "events"
>;

/** @throws ProblemError 503 without the binding TENANT */
export function listsOf(services: Pick<Services, "tenants">, principal: Principal): TenantLists {
  const tenant = tenantOf(services, principal.tenant);
  const { own_teams_of: team_user } = principal;
  if (team_user === undefined) return tenant;
  return {
    teams: (query) => tenant.teams({ ...query, team_user }),
    runs: (query) => tenant.runs({ ...query, team_user }),
    failures: (query) => tenant.failures({ ...query, team_user }),
    requests: (query, sight) => tenant.requests({ ...query, team_user }, sight),
    usageReport: (query) => tenant.usageReport({ ...query, team_user }),
    events: (after, changes, caller) => tenant.events(after, changes, { ...caller, team_user }),
  };
}

/** The lines that a wrangler.toml without the binding MEMORY lacks. */
const MEMORY_BINDING =
  '[[durable_objects.bindings]] name = "MEMORY" class_name = "MemoryObject", and [[migrations]] tag = "v3" new_sqlite_classes = ["MemoryObject"]';

/** @throws ProblemError 503 without the binding MEMORY */
export function memoriesOf({ memories }: Pick<Services, "memories">): Memories {
  if (memories !== undefined) return memories;
  throw new ProblemError({
    status: 503,
    code: "memories_not_configured",
    detail: `The Durable Object binding MEMORY is missing: wrangler.toml needs ${MEMORY_BINDING}.`,
  });
}
