import { LONGEST_SHARE_LIFE, LONGEST_TOKEN_LIFE } from "../../../contract/constants.ts";
import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { GivenReceivers, Receiver } from "../../../contract/notify.ts";
import { isMasked } from "../../../notify/seal-receivers.ts";
import { authorOf, type Principal } from "../../auth/principal.ts";
import { permits } from "../access/access-control.ts";
import { makerOf } from "../access/token-makers.ts";
import { invalid, unwrap } from "../endpoint/problem.ts";
import { type Services, tenantsOf } from "../endpoint/services.ts";
import { requireWebhookUrl } from "./webhook-url.ts";

/**
 * Checks the receivers that a request names, and records for whom they are: their links give no more than the credential may.
 *
 * @throws ProblemError 404, 422 or 503
 */
export async function readReceivers(
  services: Services,
  receivers: readonly Receiver[],
  { principal, team, request }: { principal: Principal; team: TeamGateway; request: Request },
): Promise<GivenReceivers> {
  tenantsOf(services);
  for (const [index, given] of receivers.entries()) requireReceiver(services, given, index);
  const { scopes, expires_at, kind, id } = principal;
  const lasts = permits(scopes, "keys:write");
  const origin = {
    base_url: services.baseUrl(request),
    creation: unwrap(await team.creation()),
    made_by: authorOf(principal),
    maker: id,
    ends_with: services.teamTokens ? await makerOf(principal, services.teamTokens) : null,
    life: !lasts && kind === "identity" ? LONGEST_TOKEN_LIFE : LONGEST_SHARE_LIFE,
    until: lasts || kind === "identity" ? null : expires_at,
    answers: permits(scopes, "requests:write"),
  };
  return { receivers, origin };
}

/** @throws ProblemError 422 at the field */
function requireReceiver(services: Services, given: Receiver, index: number): void {
  switch (given.kind) {
    case "slack":
    case "webhook":
      if (!isMasked(given)) requireWebhookUrl(services, given.url, `notify[${index}].url`);
      return;
    case "telegram":
      requireWebhookUrl(services, services.notifications.telegramApi, `notify[${index}].token`);
      return;
    case "email":
      if (services.notifications.sendsEmail) return;
      throw invalid("email_not_configured", "E-mail is not configured.", [
        { path: `notify[${index}].to`, message: NO_EMAIL },
      ]);
  }
}

const NO_EMAIL =
  "cannot be reached: this server sends no e-mail. It needs the binding SEND_EMAIL ([[send_email]] in wrangler.toml) and the setting EMAIL_FROM, the address of the sender";
