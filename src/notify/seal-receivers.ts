import { ok, refuseInput, type Refused, type Result } from "../contract/result.ts";
import type {
  GivenReceivers,
  Receiver,
  ShownReceiver,
  StoredReceiver,
} from "../contract/notify.ts";
import { REDACTED } from "../secrets/redacted-secrets.ts";
import type { Sealer } from "../secrets/sealer.ts";

/**
 * Seals the secrets of receivers. One that is given as it is shown stays, if the receiver is the same.
 *
 * @param before the list that is replaced
 */
export async function sealReceivers(
  { receivers, origin }: GivenReceivers,
  before: readonly StoredReceiver[],
  sealer: Sealer,
): Promise<Result<StoredReceiver[]>> {
  const kept: (StoredReceiver | undefined)[] = [];
  for (const [index, given] of receivers.entries()) {
    const same = isMasked(given)
      ? sameAs(given, before)
      : await equalTo(given, before, sealer).catch(() => undefined);
    if (typeof same === "string") return masked(given, index, same);
    kept.push(same);
  }
  try {
    const names = new Set(receivers.flatMap(({ id }) => id ?? []));
    const sealed: StoredReceiver[] = [];
    for (const [index, given] of receivers.entries()) {
      const same = kept[index];
      const secret = same ? same.secret : await sealedSecret(given, sealer);
      const earlier = same && !names.has(same.shown.id) ? same.shown.id : newId();
      const id = given.id ?? earlier;
      names.add(id);
      const { kind, on } = given;
      const { url, token, chat, to } = same ? same.shown : shownParts(given);
      const parts = definedOf({ url, token, chat, to });
      sealed.push({ shown: { id, kind, ...parts, on: [...on] }, secret, origin });
    }
    return ok(sealed);
  } catch (error) {
    return refuseInput(error);
  }
}

/** The part of a receiver that is a secret. */
function secretOf(given: Receiver): string | null {
  switch (given.kind) {
    case "slack":
    case "webhook":
      return given.url;
    case "telegram":
      return given.token;
    case "email":
      return null;
  }
}

export function isMasked(given: Receiver): boolean {
  return secretOf(given)?.includes(REDACTED) === true;
}

async function sealedSecret(given: Receiver, sealer: Sealer): Promise<string | null> {
  const secret = secretOf(given);
  return secret === null ? null : sealer.seal(secret);
}

type Parts = Partial<Pick<ShownReceiver, "url" | "token" | "chat" | "to">>;

function definedOf(parts: { [Name in keyof Parts]: Parts[Name] | undefined }): Parts {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

function newId(): string {
  return crypto.randomUUID().slice(0, 8);
}

function shownParts(given: Receiver): Parts {
  switch (given.kind) {
    case "slack":
    case "webhook":
      return { url: `${new URL(given.url).origin}/${REDACTED}` };
    case "telegram":
      return { token: REDACTED, chat: given.chat };
    case "email":
      return { to: given.to };
  }
}

/** The stored receiver of which this one has the masked secret, or why there is none. */
function sameAs(given: Receiver, before: readonly StoredReceiver[]): StoredReceiver | string {
  const [only, ...others] = before.filter(
    ({ shown }) =>
      shown.kind === given.kind &&
      (given.id === undefined || shown.id === given.id) &&
      isShown(given, shown),
  );
  if (only === undefined) return "is masked, and the list has no such receiver: give all of it";
  if (others.length === 0) return only;
  return "is masked, and several receivers of the list look like this: give the id of one, or all of it";
}

/** The stored receiver that has the same secret, so that it keeps its id and what is pending for it. */
async function equalTo(
  given: Receiver,
  before: readonly StoredReceiver[],
  sealer: Sealer,
): Promise<StoredReceiver | undefined> {
  const { url, chat, to }: Parts = shownParts(given);
  for (const one of before) {
    const { shown } = one;
    const looksSame = shown.url === url && shown.chat === chat && shown.to === to;
    if (shown.kind !== given.kind || !looksSame) continue;
    if (one.secret === null || (await sealer.open(one.secret)) === secretOf(given)) return one;
  }
  return undefined;
}

/** True if what a request gives is what was shown; the marker alone stands for any URL. */
function isShown(given: Receiver, shown: ShownReceiver): boolean {
  switch (given.kind) {
    case "slack":
    case "webhook":
      return given.url === REDACTED || given.url === shown.url;
    case "telegram":
      return given.token === REDACTED && given.chat === shown.chat;
    case "email":
      return given.to === shown.to;
  }
}

function masked(given: Receiver, index: number, message: string): Refused {
  const path = `notify[${index}].${given.kind === "telegram" ? "token" : "url"}`;
  const detail = `A secret of the receivers is masked, and nothing stored takes its place.`;
  const errors = [{ path, message }];
  return { ok: false, problem: { status: 422, code: "invalid_request", detail, errors } };
}
