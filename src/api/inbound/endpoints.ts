import { inboundCommands } from "../../contract/commands/triggers.ts";
import { isJsonObject } from "../../core/json.ts";
import { isTenantId } from "../auth/principal.ts";
import { KnownTriggers, nameOf, type TriggerPlace } from "../http/access/trigger-keys.ts";
import { commandEndpoints } from "../http/endpoint/command-endpoints.ts";
import { type Endpoint, json } from "../http/endpoint/endpoint.ts";
import { type Services, tenantsOf } from "../http/endpoint/services.ts";
import { readBytes, requireNoCoding } from "../http/input/body.ts";
import { originOf } from "../http/input/call.ts";
import { deliver, type Delivered } from "./deliver.ts";
import { readEvent } from "./payload.ts";
import { isSigned } from "./signatures.ts";
import { WrongSignatures } from "./wrong-signatures.ts";

/** A secret that no trigger has: comparing with it takes the time that an existing trigger takes. */
const UNKNOWN = { kind: "github", secrets: ["unknown-trigger"] } as const;

/** The addresses of triggers. What is not signed is refused before anything but the tenant, which is asked rarely, is woken. */
export function inboundEndpoints(services: Services): Endpoint[] {
  const wrong = new WrongSignatures();

  return commandEndpoints(inboundCommands, services, {
    async receiveEvent({ param, c }) {
      const place = { tenant: param("tenant"), team: param("team"), trigger: param("trigger") };
      const request = c.req.raw;
      requireNoCoding(request.headers.get("content-encoding"));
      const { limits } = services;
      const event = {
        headers: request.headers,
        body: await readBytes(request, limits.max_body_bytes, ""),
      };
      const now = Date.now();
      const keys = await keysOf(place, services, now);
      const { kind, secrets } = keys ?? UNKNOWN;
      const signed = await isSigned(kind, event, secrets, now);
      if (keys === null || !signed) throw wrong.refusal(nameOf(place), now);
      const read = await readEvent(kind, event, limits);
      if (kind === "slack" && isJsonObject(read.payload)) {
        const { type, challenge } = read.payload;
        if (type === "url_verification") return json({ challenge });
      }
      // GitHub tests the address with it.
      const isPing = kind === "github" && read.name === "ping";
      const delivered = await deliver(
        place,
        { ...read, ...(isPing && { skipped: "ping" }), run: originOf(request) },
        services,
      );
      if (delivered === undefined) throw wrong.refusal(nameOf(place), now);
      return answerTo(delivered);
    },
  });
}

/** A tenant's name that is not one is never asked for. */
async function keysOf(place: TriggerPlace, services: Services, now: number) {
  if (!isTenantId(place.tenant)) return null;
  return KnownTriggers.of(tenantsOf(services)).keys(place, now);
}

function answerTo({ delivery, isNew }: Delivered): Response {
  const { status, run, reason } = delivery;
  if (status === "ran") return json({ run }, isNew ? 202 : 200);
  return json(status === "filtered" ? { filtered: true } : { skipped: reason ?? status });
}
