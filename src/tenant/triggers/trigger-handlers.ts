import type { StoredTrigger, TriggerCalls } from "../../contract/gateways/trigger-gateway.ts";
import type { TriggerKind } from "../../contract/constants.ts";
import { MOST_TRIGGERS } from "../../contract/constants.ts";
import {
  ok,
  refuse,
  type Refused,
  refuseInput,
  temporarilyUnavailable,
} from "../../contract/result.ts";
import { secretIssue } from "../../contract/team/trigger-secret.ts";
import { sealReceivers } from "../../notify/seal-receivers.ts";
import type { Sealer } from "../../secrets/sealer.ts";
import type { Handlers } from "../../sqlite/remote-methods.ts";
import { fromCursor, invalidCursor, toCursor } from "../directory/cursor.ts";
import { newSecret } from "../webhooks/secret-store.ts";
import { secretsOf, type Triggers } from "./triggers.ts";

/** Access to the triggers for the commands. */
export interface TriggerSource {
  /** Undefined while nothing is stored for the tenant. */
  stored: () => Triggers | undefined;
  /** True for a team that the tenant lists, or that is being created. */
  hasTeam: (team: string) => boolean;
  sealer: Sealer;
}

/** Commands on the triggers of a tenant's teams, and the calls by which events come in. */
export const triggerHandlers = {
  async putTrigger({ triggers: source }, team, id, input) {
    try {
      const before = source.stored()?.store.get(team, id);
      const { kind } = input;
      const isNew = before?.kind !== kind;
      if (isNew && input.secret === undefined && ISSUED.has(kind)) return noSecret(kind);
      const name = secretsOf(team, id);
      const current =
        isNew || kind === "email" ? undefined : await source.stored()?.secrets.newest(name);
      // The same secret again would take the place of one that is valid for another day.
      const given = input.secret === current ? undefined : input.secret;
      const secret = await secretFor(source.sealer, kind, given, isNew);
      const kept = before?.notify ?? [];
      const sealed =
        input.notify === undefined
          ? ok(kept)
          : await sealReceivers(input.notify, kept, source.sealer);
      if (!sealed.ok) return sealed;
      const triggers = source.stored();
      if (triggers === undefined || !source.hasTeam(team)) return unlisted();
      const { db, store, secrets } = triggers;
      const earlier = store.get(team, id);
      if (earlier === undefined && store.page(team, "", MOST_TRIGGERS).length === MOST_TRIGGERS) {
        return tooMany();
      }
      const now = Date.now();
      const trigger = db.transaction(() => {
        // The secrets of another kind are those of another sender.
        if (earlier?.kind !== kind) secrets.remove(name);
        if (secret !== undefined) secrets.add(name, secret.sealed, now);
        return store.put(team, id, { ...input, notify: sealed.value }, now);
      });
      const made = input.secret === undefined && secret !== undefined;
      const created = earlier === undefined;
      return ok({ trigger, created, ...(made && { secret: secret.plain }) });
    } catch (error) {
      return refuseInput(error);
    }
  },

  async triggers({ triggers: source }, team, { limit, cursor }) {
    const position = cursor === undefined ? [""] : fromCursor(cursor, ["string"]);
    if (position === undefined) return invalidCursor();
    const found = source.stored()?.store.page(team, position[0] ?? "", limit + 1) ?? [];
    const triggers = found.slice(0, limit);
    const last = triggers.at(-1);
    const next_cursor = found.length > limit && last !== undefined ? toCursor(last.id) : null;
    return ok({ triggers, next_cursor });
  },

  async trigger({ triggers: source }, team, id) {
    const trigger = source.stored()?.store.get(team, id);
    return trigger === undefined ? triggerNotFound() : ok(trigger);
  },

  async deleteTrigger({ triggers: source }, team, id) {
    const triggers = source.stored();
    if (triggers?.store.get(team, id) === undefined) return triggerNotFound();
    triggers.db.transaction(() => triggers.remove(team, id));
    return ok(null);
  },

  async rotateTriggerSecret({ triggers: source }, team, id, { secret: given, revoke_previous }) {
    try {
      const kind = source.stored()?.store.get(team, id)?.kind;
      if (kind === undefined) return triggerNotFound();
      const issue =
        given === undefined && kind !== "email" ? undefined : secretIssue(kind, given ?? "");
      if (issue !== undefined) return invalidSecret(issue);
      if (given === undefined && ISSUED.has(kind)) return noSecret(kind);
      const secret = await secretFor(source.sealer, kind, given, true);
      const triggers = source.stored();
      // The trigger may have been removed in the meantime.
      if (triggers?.store.get(team, id)?.kind !== kind || secret === undefined) {
        return triggerNotFound();
      }
      const name = secretsOf(team, id);
      const now = Date.now();
      triggers.db.transaction(() => {
        if (revoke_previous) triggers.secrets.remove(name);
        triggers.secrets.add(name, secret.sealed, now);
      });
      const until = triggers.secrets.previousUntil(name, now);
      return ok({
        ...(given === undefined && { secret: secret.plain }),
        previous_secret_expires_at: until === null ? null : new Date(until).toISOString(),
      });
    } catch (error) {
      return refuseInput(error);
    }
  },

  async triggerDeliveries({ triggers: source }, team, id, { limit, cursor }) {
    const triggers = source.stored();
    if (triggers?.store.get(team, id) === undefined) return triggerNotFound();
    const position =
      cursor === undefined
        ? [Number.MAX_SAFE_INTEGER, ""]
        : fromCursor(cursor, ["number", "string"]);
    if (position === undefined) return invalidCursor();
    const [at = 0, before = ""] = position;
    const found = triggers.deliveries.page(
      team,
      id,
      { at: Number(at), id: String(before) },
      { limit: limit + 1, now: Date.now() },
    );
    const deliveries = found.slice(0, limit);
    const last = deliveries.at(-1);
    const next_cursor =
      found.length > limit && last !== undefined ? toCursor(Date.parse(last.at), last.id) : null;
    return ok({ deliveries, next_cursor });
  },

  async triggerKeys({ triggers: source }, team, id) {
    const triggers = source.stored();
    const kind = triggers?.store.get(team, id)?.kind;
    if (triggers === undefined || kind === undefined) return null;
    return { kind, secrets: await triggers.secrets.signing(secretsOf(team, id), Date.now()) };
  },

  async triggerOfMailbox({ triggers: source }, mailbox) {
    return source.stored()?.store.ofMailbox(mailbox) ?? null;
  },

  async openDelivery({ triggers: source }, team, id, delivery) {
    const triggers = source.stored();
    const trigger: StoredTrigger | undefined = triggers?.store.get(team, id);
    if (triggers === undefined || trigger === undefined) return null;
    const earlier = triggers.deliveries.find(team, id, delivery, Date.now()) ?? null;
    return { trigger, earlier };
  },

  async noteDelivery({ triggers: source }, team, id, delivery) {
    const triggers = source.stored();
    if (triggers?.store.get(team, id) === undefined) return;
    triggers.db.transaction(() => triggers.deliveries.put(team, id, delivery, Date.now()));
  },
} satisfies Handlers<TriggerCalls, { triggers: TriggerSource }>;

/** Their senders make the secrets. */
const ISSUED: ReadonlySet<TriggerKind> = new Set(["stripe", "slack"]);

/** The secret to be stored; undefined where none is, or the one before stays. */
async function secretFor(
  sealer: Sealer,
  kind: TriggerKind,
  given: string | undefined,
  isNew: boolean,
): Promise<{ plain: string; sealed: string } | undefined> {
  if (kind === "email") return undefined;
  if (given !== undefined) return { plain: given, sealed: await sealer.seal(given) };
  return isNew ? newSecret(sealer) : undefined;
}

function triggerNotFound(): Refused {
  return refuse(404, "trigger_not_found", "The team has no such trigger.");
}

function unlisted(): Refused {
  return temporarilyUnavailable("The tenant does not list the team yet. Try again.");
}

function tooMany(): Refused {
  const detail = `A team can have at most ${MOST_TRIGGERS} triggers: delete one first.`;
  return refuse(409, "too_many_triggers", detail, { limit: MOST_TRIGGERS });
}

function noSecret(kind: TriggerKind): Refused {
  const maker = kind === "stripe" ? "Stripe" : "Slack";
  return invalidSecret(`is missing: give the signing secret that ${maker} shows for its endpoint`);
}

function invalidSecret(message: string): Refused {
  const errors = [{ path: "secret", message }];
  const problem = { status: 422, code: "invalid_request", detail: `secret ${message}.`, errors };
  return { ok: false, problem };
}
