import { ok, refuse, type Refused, type Result } from "../../contract/result.ts";
import { invalidCursor } from "../directory/cursor.ts";
import { Registry } from "./registry.ts";
import type { Database } from "../../sqlite/database.ts";
import { createTenantTables, holdsTenant } from "./tables.ts";
import type { TenantHolder } from "./tenant-holder.ts";
import { MONEY_LIMITS } from "../../contract/tenant/tenant-limits.ts";
import type { TenantInfo } from "../../contract/tenant/tenant.ts";
import type { TenantHandlers } from "./tenant-methods.ts";
import { dayOf } from "../usage/day-usage.ts";
import { emptyPage } from "./directory-handlers.ts";

/** Commands on a tenant: its limits, its keys, admission of its teams, and the registry of all tenants. */
export const tenantHandlers = {
  info: ({ tenant }) => info(tenant),

  put({ tenant: holder }, { label, limits }) {
    const { tenant } = holder.hold();
    const { record } = tenant;
    if (record.deleting) return beingDeleted();
    const renamed = label !== undefined && label !== record.label;
    tenant.save({
      ...(renamed && { label, registered: false }),
      limits: { ...record.limits, ...limits },
    });
    holder.setAlarm(Date.now());
    if (MONEY_LIMITS.some((name) => limits?.[name] != null)) holder.budgetSet();
    return info(holder);
  },

  limits: ({ tenant }) => tenant.limits(),

  destroy({ tenant, keys }) {
    const { parts } = tenant;
    if (parts === undefined || parts.tenant.record.deleting) return tenantNotFound();
    parts.tenant.save({ deleting: true });
    keys.end(() => true);
    tenant.setAlarm(Date.now());
    return ok(null);
  },

  wipe({ tenant, keys }) {
    keys.end(() => true);
    return tenant.wipe();
  },

  createKey({ tenant: holder }, { id, name, scopes, hash, expires_in }) {
    const { tenant, keys } = holder.hold();
    if (tenant.record.deleting) return beingDeleted();
    const now = Date.now();
    const { keys: most } = holder.limits();
    if (keys.size >= most) keys.clean(now);
    if (keys.size >= most) return tooManyKeys(most);
    const created = keys.create(id, {
      name,
      scopes: [...scopes],
      hash,
      created_at: new Date(now).toISOString(),
      expires_at: expires_in === null ? null : new Date(now + expires_in * 1000).toISOString(),
      last_used: null,
    });
    return ok(created);
  },

  keys({ tenant: { parts } }, page) {
    if (parts === undefined) return ok({ keys: [], next_cursor: null });
    const keys = parts.keys.page(page);
    return keys === undefined ? invalidCursor() : ok(keys);
  },

  revokeKey({ tenant: { parts }, keys }, id) {
    if (!parts?.keys.revoke(id)) return refuse(404, "key_not_found", "There is no such key.");
    parts.tokens.dropOfKey(id);
    keys.end((key) => key === id);
    return ok(null);
  },

  verifyKey({ tenant: { parts } }, id, hash) {
    if (parts === undefined || parts.tenant.record.deleting) return null;
    return parts.keys.verify(id, hash, Date.now()) ?? null;
  },

  hasKey: ({ tenant: { parts } }, id) =>
    parts?.tenant.record.deleting !== true && parts?.keys.has(id, Date.now()) === true,

  addToken({ tenant: holder }, team, token) {
    const { tenant, tokens } = holder.hold();
    if (tenant.record.deleting) return beingDeleted();
    const now = Date.now();
    const added = tokens.add(team, token, holder.limits().team_tokens, now);
    holder.setAlarm(now);
    return added;
  },

  tokenRecord: ({ tenant: { parts } }, team, id) =>
    parts?.tokens.find(team, id, Date.now()) ?? null,

  tokens: ({ tenant: { parts } }, team, page) =>
    parts?.tokens.page(team, page, Date.now()) ?? emptyPage(page, { tokens: [] }),

  dropTokens({ tenant: { parts }, keys }, team, revoked) {
    parts?.tokens.drop(team, revoked);
    keys.endTokens(team, revoked);
  },

  session: ({ tenant: { parts } }, id) => parts?.sessions.get(id, Date.now()) ?? null,

  changeSession({ tenant: holder }, id, change) {
    const { tenant, sessions } = holder.hold();
    if (tenant.record.deleting) return beingDeleted();
    return sessions.change(id, change, Date.now());
  },

  noteMemories({ tenant: holder }, name, announced) {
    const { tenant, memories, stored } = holder.hold();
    if (tenant.record.deleting) return beingDeleted();
    const limits = holder.limits();
    const refused = memories.refuse(name, limits) ?? stored.refuse(limits);
    if (refused && !announced.empty) return refused;
    memories.put(name, announced);
    return ok(null);
  },

  refuseMemories({ tenant: holder }, name) {
    const limits = holder.limits();
    return (
      holder.parts?.memories.refuse(name, limits) ?? holder.parts?.stored.refuse(limits) ?? null
    );
  },

  memoriesChanged({ tenant: { parts } }, name, stored) {
    parts?.memories.update(name, stored);
  },

  dropMemories: ({ tenant: { parts } }, name) => parts?.memories.remove(name) === true,

  memoryNames: ({ tenant: { parts } }, query) =>
    parts?.memories.page(query) ?? emptyPage(query, { names: [] }),

  reserve({ tenant: holder }, input) {
    const { tenant, directory, reservations, stored } = holder.hold(input.tenant_label);
    if (tenant.record.deleting) return beingDeleted();
    const now = Date.now();
    const limits = holder.limits();
    const { tool } = input;
    const { id } = input;
    const nameRefused = tool && !tool.isCopy && directory.tools.refuse(id, tool.tool, "tool.name");
    const moreRefused = tool && !directory.has(id) && directory.tools.refuseMore(id, limits);
    const refused = nameRefused || moreRefused;
    if (refused) return refused;
    const reserved = holder.db.transaction(() => {
      const made = reservations.reserve(input, limits, stored, now);
      // The tool of a team that exists stays as it is: the team itself decides who created it.
      if (tool && made.ok && !directory.has(made.value.id))
        directory.tools.put(made.value.id, tool.tool, now, tool.isCopy);
      return made;
    });
    holder.setAlarm(now);
    return reserved;
  },

  admit({ tenant: holder }, request) {
    const { tenant, admission, webhooks } = holder.hold();
    if (tenant.record.deleting) return beingDeleted();
    const limits = holder.limits();
    const refused = admission.admit(request, limits, Date.now());
    return refused ?? ok({ limits, messages: webhooks.wantsMessages(request.team) });
  },

  claim({ tenant: holder }, claim) {
    const { parts } = holder;
    // The last calls of its teams do not create a deleted tenant again.
    if (parts === undefined || parts.tenant.record.deleting) return beingDeleted();
    return holder.claim(claim);
  },

  forget({ tenant }, team, user) {
    const listed = tenant.parts?.directory.team(team);
    if (listed === undefined || (user !== undefined && listed.user !== user)) return false;
    tenant.forget([team]);
    return true;
  },

  deliver: ({ tenant }, delivery) => tenant.deliver(delivery),

  register({ tenant: { db } }, id, label) {
    createTenantTables(db);
    new Registry(db).put(id, label);
  },

  unregister({ tenant: { db } }, id) {
    registryIn(db)?.remove(id);
  },

  noteHash({ tenant: { db } }, hash, id) {
    createTenantTables(db);
    new Registry(db).noteHash(hash, id);
  },

  tenantOfHash: ({ tenant: { db } }, hash) => registryIn(db)?.ofHash(hash) ?? null,

  tenants({ tenant: { db } }, page) {
    return registryIn(db)?.page(page) ?? ok({ tenants: [], next_cursor: null });
  },
} satisfies Partial<TenantHandlers>;

/** The stored list of tenants, with the tables of this version; undefined as long as nothing is stored. @throws NewerDataError */
function registryIn(db: Database): Registry | undefined {
  if (!holdsTenant(db)) return undefined;
  createTenantTables(db);
  return new Registry(db);
}

function info(tenant: TenantHolder): Result<TenantInfo> {
  const { parts } = tenant;
  if (parts === undefined || parts.tenant.record.deleting) return tenantNotFound();
  const { id, label, created_at } = parts.tenant.record;
  const { counts, directory, memories, stored } = parts;
  return ok({
    id,
    label,
    limits: tenant.limits(),
    teams: directory.size,
    collections: memories.collections,
    memory_users: memories.users,
    team_tools: directory.tools.count,
    stored_bytes: stored.total,
    active_runs: directory.open.active,
    today: counts.onDay(dayOf(new Date().toISOString())),
    created_at,
  });
}

function tenantNotFound(): Refused {
  return refuse(404, "tenant_not_found", "There is no such tenant.");
}

export function beingDeleted(): Refused {
  return refuse(409, "tenant_being_deleted", "The tenant is being deleted.");
}

function tooManyKeys(value: number): Refused {
  const detail = `The tenant has ${value} keys, its limit. Revoke those that are not used.`;
  const { problem } = refuse(429, "too_many_keys", detail, { limit: "keys", value });
  return { ok: false, problem: { ...problem, repeatable: false } };
}
