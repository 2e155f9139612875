import type { ComponentRoles } from "../../../core/component/checks/find-issues.ts";
import type { ComponentModel } from "../../../core/component/component-model.ts";
import type { Note } from "../../../core/component/component.ts";
import type { Issue } from "../../../core/errors.ts";
import { pathOf } from "../../../core/issues.ts";
import type { JsonObject } from "../../../core/json.ts";
import { newPlaceholders } from "../../../core/models/placeholder-address.ts";
import { userInfoIssues } from "../../../secrets/url-secrets.ts";
import { invalid, type ProblemError } from "../endpoint/problem.ts";
import type { Services } from "../endpoint/services.ts";

/** The types of component that a team object can run. */
const RUNNABLE = ["team", "agent"] as const;

interface PreparationOptions {
  roles?: ComponentRoles | undefined;
  shown?: JsonObject | undefined;
  isDraft?: boolean | undefined;
  path?: string | undefined;
}

/**
 * Prepares a component of a request and checks it, all mistakes at once. The notes are on what was given and on what was
 * made of it.
 *
 * @param options.shown the component that this one replaces: its stored secrets may come back as redacted ones
 * @param options.isDraft true if a redacted key or a placeholder as an address is a note, and fails when the model is called
 * @param options.path where it is in the request
 * @throws ProblemError 422 with paths below `path`
 * @throws TroupeError `sandbox_unavailable`
 */
export async function preparedComponent(
  component: JsonObject,
  services: Pick<Services, "components" | "limits" | "redactedSecrets">,
  { roles, shown = {}, isDraft = false, path = "component" }: PreparationOptions = {},
): Promise<{ component: JsonObject; notes: Note[] }> {
  // Before anything is made of it: the limit is to save that work.
  let issues = [
    ...longLists(component, services.limits.max_participants, path),
    ...userInfoIssues(component, path),
    ...(isDraft ? [] : newPlaceholders(component, shown, path)),
  ];
  if (issues.length > 0) throw refused(issues);
  const resolved = services.redactedSecrets.resolve(component, shown, { mayLack: isDraft });
  const prepared = await services.components.prepare(resolved.component, path);
  const inspected = await services.components.inspect(prepared, roles, path);
  issues = [...resolved.issues, ...inspected.issues];
  if (issues.length > 0) throw refused(issues);
  return { component: prepared, notes: [...resolved.notes, ...inspected.notes] };
}

/** The same for the component of a team: a team or an agent. */
export async function preparedRunnable(
  component: JsonObject,
  services: Services,
  {
    tenant,
    ...options
  }: Pick<PreparationOptions, "shown" | "isDraft"> & { tenant?: string | undefined } = {},
): Promise<{ component: ComponentModel; notes: Note[] }> {
  const prepared = await preparedComponent(component, services, { ...options, roles: RUNNABLE });
  const skills = await skillNotes(prepared.component, services, tenant);
  return {
    component: prepared.component as ComponentModel,
    notes: [...prepared.notes, ...skills],
  };
}

/**
 * Notes about skills that the tenant does not have. An agent with a workbench of an MCP server may get them there.
 *
 * @param tenant undefined for a component whose notes the client does not get
 */
export async function skillNotes(
  component: JsonObject,
  services: Pick<Services, "tenants" | "hasSkill">,
  tenant: string | undefined,
): Promise<Note[]> {
  const named = namedSkills(component, "component").filter(({ name }) => !services.hasSkill(name));
  if (named.length === 0 || tenant === undefined) return [];
  const names = [...new Set(named.map(({ name }) => name))];
  const known = (await services.tenants?.tenant(tenant).knownSkills(names)) ?? [];
  return named
    .filter(({ name }) => !known.includes(name))
    .map(({ name, path }) => ({
      path,
      message: `there is no skill "${name}": agents do without it until it is put (PUT /v1/skills/${name})`,
    }));
}

function namedSkills(value: unknown, path: string): { name: string; path: string }[] {
  if (typeof value !== "object" || value === null) return [];
  const { provider, config } = value as { provider?: unknown; config?: JsonObject };
  const place = (key: string): string => pathOf([Array.isArray(value) ? Number(key) : key], path);
  const inside = Object.entries(value).flatMap(([key, inner]) => namedSkills(inner, place(key)));
  const isAssistant = typeof provider === "string" && OF_ASSISTANTS.test(provider);
  const skills = isAssistant ? config?.["skills"] : undefined;
  if (!Array.isArray(skills) || JSON.stringify(config?.["workbench"] ?? null).includes(MCP)) {
    return inside;
  }
  const own = skills.flatMap((name, index) =>
    typeof name === "string" ? [{ name, path: `${path}.config.skills[${index}]` }] : [],
  );
  return [...own, ...inside];
}

const OF_ASSISTANTS = /(?:^|\.)(?:AssistantAgent|MagenticOneCoderAgent)$/;
const MCP = "McpWorkbench";

function refused(issues: Issue[]): ProblemError {
  return invalid("invalid_component", "The component cannot be loaded.", issues);
}

/** Lists of participants that are too long, at any depth. */
function longLists(value: unknown, limit: number, path: string): Issue[] {
  if (typeof value !== "object" || value === null) return [];
  const issues: Issue[] = [];
  for (const [key, inner] of Object.entries(value)) {
    const place = pathOf([Array.isArray(value) ? Number(key) : key], path);
    if (key === "participants" && Array.isArray(inner) && inner.length > limit) {
      issues.push({
        path: place,
        message: `has ${inner.length} members; at most ${limit} are allowed`,
      });
    } else {
      issues.push(...longLists(inner, limit, place));
    }
  }
  return issues;
}
