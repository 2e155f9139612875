import type { TriggerKind } from "../../contract/constants.ts";
import { sha256Hex } from "../../core/hash.ts";
import { isJsonObject, type Json, parseJson } from "../../core/json.ts";
import { jsonIn } from "../http/input/body.ts";
import type { Limits } from "../http/endpoint/limits.ts";
import { invalid, ProblemError } from "../http/endpoint/problem.ts";
import type { SignedEvent } from "./signatures.ts";

/** An event that is believed. */
export interface ReadEvent {
  payload: Json;
  /** The sender's id of the delivery; undefined where each is new. */
  delivery: string | undefined;
  /** The sender's name of the kind of event, beside the payload. */
  name: string | undefined;
}

/** The id of an event in its payload, by the kind of the sender. */
const ID_MEMBERS: { readonly [Kind in TriggerKind]?: string } = {
  stripe: "id",
  slack: "event_id",
};
const ID_HEADERS: { readonly [Kind in TriggerKind]?: string } = {
  github: "x-github-delivery",
  standard: "webhook-id",
  plain: "idempotency-key",
};

const FORM = "application/x-www-form-urlencoded";

/** @throws ProblemError 400 or 415 for a body that is not JSON, or a form; 422 for an `Idempotency-Key` that is not one */
export async function readEvent(
  kind: TriggerKind,
  { headers, body }: SignedEvent,
  limits: Limits,
): Promise<ReadEvent> {
  const payload = payloadOf(headers.get("content-type"), body, limits);
  const member = ID_MEMBERS[kind];
  const inPayload = member !== undefined && isJsonObject(payload) ? payload[member] : undefined;
  const given = typeof inPayload === "string" ? inPayload : headers.get(ID_HEADERS[kind] ?? "");
  if (kind === "plain") requireKey(given);
  return {
    payload,
    delivery: given === null || given === "" ? undefined : await shortId(given),
    name: kind === "github" ? (headers.get("x-github-event") ?? undefined) : undefined,
  };
}

/** The value of a body: JSON, or the fields of a form. A form of GitHub or Slack may have its JSON in the field `payload`. */
function payloadOf(
  contentType: string | null,
  body: Uint8Array<ArrayBuffer>,
  limits: Limits,
): Json {
  if (body.length === 0) return {};
  const [type = ""] = (contentType ?? "").toLowerCase().split(";");
  if (type.trim() === FORM) {
    const fields = new URLSearchParams(new TextDecoder().decode(body));
    const json = fields.get("payload");
    if (json !== null)
      return jsonIn(Uint8Array.from(new TextEncoder().encode(json)), limits, parseJson);
    return Object.fromEntries(fields);
  }
  if (/^(application\/(json|[\w.-]+\+json)|text\/plain)?$/.test(type.trim())) {
    return jsonIn(body, limits, parseJson);
  }
  throw new ProblemError({
    status: 415,
    code: "unsupported_media_type",
    detail: `Send the event as application/json, or as ${FORM}.`,
  });
}

/** @throws ProblemError 422 */
function requireKey(key: string | null): void {
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return;
  const message = "must be 1 to 255 visible ASCII characters";
  throw invalid("invalid_idempotency_key", `Idempotency-Key ${message}.`, [
    { path: "Idempotency-Key", message },
  ]);
}

/** An id as it is listed; of a long or odd one, its hash. */
export async function shortId(id: string): Promise<string> {
  return /^[\x21-\x7e]{1,255}$/.test(id) ? id : `sha256-${await sha256Hex(id)}`;
}
