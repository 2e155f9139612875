import { ok, type Result, stillBeingDeleted, teamNotFound } from "../../../contract/result.ts";
import { PROTOCOL_NAMES, type ProtocolName } from "../../../contract/gateways/team-gateway.ts";
import { totalCost } from "../../../contract/usage/model-usage.ts";
import type { TeamInfo } from "../../../contract/team.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { ComponentModel } from "../../../core/component/component-model.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { within } from "../../../core/wait.ts";
import { objectKey } from "../../storage/tables/meta-store.ts";
import { createTeam, type NewTeam } from "../../storage/create-team.ts";
import { RevokedTokens } from "./revoked-tokens.ts";
import type { TeamHolder } from "../parts/team-holder.ts";
import type { TeamCommandParts, TeamHandlers } from "./team-methods.ts";

/** Limit of the wait for the tenant before a creation, or a run that was waited for, is answered. */
const LISTED_WITHIN_MS = 1_000;

const keptKey = (name: ProtocolName) => objectKey<JsonObject>(`protocol_${name}`, []);

/** The handlers of a team's component and its access. */
export const teamHandlers = {
  create: (object, { component, ...input }) =>
    create(object, input, () => object.secrets.seal(component, null)),

  conversationModel: ({ team }) =>
    team.with(({ stores }) => {
      const { id, label, metadata } = stores.team.record;
      return ok({ agent: id, label, metadata, component: stores.team.component });
    }),

  createConversation(
    object,
    { id, expires_in, user, context, ...caller },
    { agent, label, metadata, component },
  ) {
    const conversation = { agent, ...caller, ...(context !== undefined && { context }) };
    // Whoever knows the id is its caller, so the same id asks for the same conversation.
    const idempotency = { key: `conversation ${id}`, hash: "" };
    const by = caller.caller ?? undefined;
    const input = { id, label, metadata, by, user, expires_in, conversation, idempotency };
    return create(object, input, async () => component);
  },

  conversationContext: ({ team }) =>
    team.with(({ stores }) => ok(stores.team.record.conversation?.context ?? null)),

  team: ({ team }) => teamInfo(team),

  user: ({ team }) => team.with(({ stores }) => ok(stores.team.record.user ?? null)),

  async openCost({ team }) {
    const asked = team.with(({ engine: { active }, budget }) =>
      ok(active && budget?.reclaim(active.record.id, totalCost(active.usage.models) ?? 0)),
    );
    return asked.ok ? ok((await asked.value) ?? null) : asked;
  },

  replaceComponent: ({ team }, component, options) =>
    team.change((parts) => parts.component.replace(component, options)),

  restoreVersion: ({ team }, version, options) =>
    team.change(({ component }) => component.restore(version, options)),

  versions: ({ team }, page) => team.with(({ component }) => component.page(page)),

  version: ({ team }, version) => team.with(({ component }) => component.version(version)),

  sealedVersion: ({ team }, version) =>
    team.with(({ component }) => component.sealedVersion(version)),

  changeVersion: ({ team }, version, changes) =>
    team.change(({ component }) => component.changeVersion(version, changes)),

  destroy: ({ team }) => team.change((parts) => team.erase(parts)),

  wipe: ({ team }) => team.wipe(),

  prepareRecovery: ({ team }, time) => team.prepareRecovery(time),

  restart: ({ team }) => team.restart(),

  creation: ({ team }) => creation(team),

  async isRevoked({ team }, token) {
    const current = await creation(team);
    if (!current.ok || current.value !== token.creation) return true;
    const { stores } = team.parts ?? {};
    return stores === undefined || new RevokedTokens(stores.meta).has(token);
  },

  revokeTokens: ({ team, tokens }, id, end) =>
    team.with(({ stores }) => {
      const revoked = new RevokedTokens(stores.meta);
      const result = revoked.revoke(id, Date.now(), end);
      tokens.end((token) => revoked.has(token));
      return result;
    }),

  kept: ({ team }, name) => team.with(({ stores }) => ok(stores.meta.read(keptKey(name)) ?? null)),

  keep: ({ team }, name, value) =>
    team.with(({ stores }) => {
      stores.meta.write(keptKey(name), value);
      return ok(null);
    }),

  keepFor: ({ team }, seconds) =>
    team.with(({ stores: { db, team: stored, announcer } }) => {
      const { expires_in } = stored.record;
      if (expires_in === undefined || expires_in >= seconds) return ok(null);
      db.transaction(() => {
        stored.save({ expires_in: seconds });
        announcer.team();
      });
      return ok(null);
    }),

  amend: ({ team }, name, initial, { set = {}, add = [], remove = [], mostBytes = Infinity }) =>
    team.with(({ stores }) => {
      const before = stores.meta.read(keptKey(name)) ?? initial;
      const items = Array.isArray(before["items"]) ? before["items"] : [];
      const left = items.filter((item) => !remove.includes((item as { id: string }).id));
      const value = { ...before, ...set, items: [...left, ...add] };
      const bytes = new TextEncoder().encode(JSON.stringify(value.items)).length;
      const changed = bytes <= mostBytes;
      if (changed) stores.meta.write(keptKey(name), value);
      return ok({ value: changed ? value : before, changed, bytes });
    }),

  session: ({ team }) => team.with(({ stores }) => ok(stores.team.session)),

  reset: ({ team }) =>
    team.change(async (parts) => {
      const reset = await parts.team.reset();
      if (reset.ok) for (const name of PROTOCOL_NAMES) parts.stores.meta.remove(keptKey(name));
      return reset;
    }),

  tasks: async ({ team }) => team.change(({ board }) => board.tasks()),

  addTask: ({ team }, task, idempotency) =>
    team.change(({ board, quota }) => quota.refuseStored() ?? board.add(task, idempotency)),

  changeTask: ({ team }, id, edit) =>
    team.change(({ board, quota }) => quota.refuseStored() ?? board.change(id, edit)),

  deleteTask: ({ team }, id) => team.change(({ board }) => board.remove(id)),

  messages: ({ team }, query) => team.with((parts) => ok(parts.team.messages(query))),

  async findMessages({ team }, query) {
    const { findMessages } = await import("./find-messages.ts");
    return team.with(({ stores }) => ok(findMessages(stores.log, query)));
  },

  async turns({ team }, query) {
    const { turnsOfTeam } = await import("./turns-of-team.ts");
    return team.with((parts) => turnsOfTeam(parts, query));
  },
} satisfies Partial<TeamHandlers>;

/** Resolves when the tenant lists all changes, so that a client that reads the lists next finds them; or after the limit. */
export async function listed({ team }: TeamCommandParts): Promise<void> {
  const outbox = team.parts?.outbox;
  if (outbox) await within(LISTED_WITHIN_MS, outbox.deliver()).catch(() => undefined);
}

async function create(
  object: TeamCommandParts,
  input: NewTeam,
  seal: () => Promise<ComponentModel>,
): Promise<Result<TeamInfo>> {
  const { team, listing } = object;
  const created = await team.create(async () => {
    if (!(await listing.isFree())) return stillBeingDeleted();
    const stores = team.parts?.stores ?? listing.newStores();
    const stored = await createTeam(stores, input, seal, listing.tenantName, () =>
      team.forkTarget().erase(),
    );
    if (!stored.ok) return stored;
    if (team.parts === undefined) team.hold(stores);
    // Without an await after the team was stored, so that no such team is left without its alarm.
    if (input.expires_in !== undefined) team.setAlarm();
    return teamInfo(team);
  });
  if (created.ok) await listed(object);
  return created;
}

function teamInfo(team: TeamHolder): Result<TeamInfo> {
  return team.with((parts) => ok(parts.team.info()));
}

/** A hash of the session's random name, which stays secret. */
async function creation(team: TeamHolder): Promise<Result<string>> {
  const { session } = team.parts?.stores.team ?? {};
  if (session === undefined) return teamNotFound();
  return ok((await sha256Hex(`creation ${session}`)).slice(0, 32));
}
