import { triggerCommands } from "../../../contract/commands/triggers.ts";
import type { StoredTrigger } from "../../../contract/gateways/trigger-gateway.ts";
import { isHashOfTenant, mailboxOf } from "../../../contract/team/mailbox.ts";
import type { TriggerInfo } from "../../../contract/team/trigger.ts";
import type { TenantGateway } from "../../../contract/gateways/tenant-gateway.ts";
import { userOf } from "../access/access-control.ts";
import { KnownTriggers } from "../access/trigger-keys.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type CheckedRequest, type Endpoint, json } from "../endpoint/endpoint.ts";
import { invalid, unwrap } from "../endpoint/problem.ts";
import { readReceivers } from "../input/receivers.ts";
import { type Services, tenantsOf } from "../endpoint/services.ts";

/** The parts of a request that all handlers use. */
type TriggerCall = Pick<CheckedRequest, "principal" | "team" | "param" | "c">;

/** Triggers of a team. Their tenant's object stores them, and the team itself says who may ask. */
export function triggerEndpoints(services: Services): Endpoint[] {
  /** @throws ProblemError 404 for a team that does not exist, or is not the caller's */
  const tenantOfTeam = async ({ team, principal }: TriggerCall): Promise<TenantGateway> => {
    unwrap(await team.creation());
    return tenantsOf(services).tenant(principal.tenant);
  };
  const forget = ({ principal: { tenant }, param }: TriggerCall): void =>
    KnownTriggers.of(tenantsOf(services)).forget({
      tenant,
      team: param("team"),
      trigger: param("trigger"),
    });
  const shown = (trigger: StoredTrigger, { principal, param, c }: TriggerCall): TriggerInfo => {
    const { mailbox, id, kind, notify, ...fields } = trigger;
    const base = services.baseUrl(c.req.raw);
    const url = `${base}/in/${principal.tenant}/${param("team")}/${id}`;
    const address = mailbox === null ? url : `${mailbox}@${services.emailDomain ?? ""}`;
    return {
      id,
      kind,
      address,
      ...fields,
      ...(notify && { notify: notify.map((one) => one.shown) }),
    };
  };
  /** @throws ProblemError 422 where e-mail reaches no trigger */
  const newMailbox = async (tenant: string, team: string, trigger: string): Promise<string> => {
    if (services.emailDomain === undefined) {
      throw invalid("email_not_configured", "This server takes no e-mail.", [
        {
          path: "kind",
          message: "needs the setting EMAIL_DOMAIN: a domain whose e-mail reaches this Worker",
        },
      ]);
    }
    const mailbox = await mailboxOf(tenant, team, trigger);
    const [name = ""] = mailbox.split("+", 1);
    if (isHashOfTenant(name)) await tenantsOf(services).noteHash(name, tenant);
    return mailbox;
  };

  return commandEndpoints(triggerCommands, services, {
    async triggers(call) {
      const tenant = await tenantOfTeam(call);
      const page = unwrap(await tenant.triggers(call.param("team"), call.query));
      const triggers = page.triggers.map((trigger) => shown(trigger, call));
      return json({ triggers, next_cursor: page.next_cursor });
    },

    async putTrigger(call) {
      const {
        body: { notify: receivers, ...body },
        principal,
        param,
        team: ofTeam,
        c,
      } = call;
      const tenant = await tenantOfTeam(call);
      const user = userOf(principal, body.user ?? undefined) ?? null;
      const [team, id] = [param("team"), param("trigger")];
      const isMail = body.kind === "email";
      const mailbox = isMail ? await newMailbox(principal.tenant, team, id) : null;
      const by = { principal, team: ofTeam, request: c.req.raw };
      const notify = receivers && (await readReceivers(services, receivers, by));
      const input = { ...body, user, mailbox, ...(notify && { notify }) };
      const put = unwrap(await tenant.putTrigger(team, id, input));
      forget(call);
      const { trigger, created, secret } = put;
      const answer = { ...shown(trigger, call), ...(secret !== undefined && { secret }) };
      const location = `/v1/teams/${team}/triggers/${id}`;
      return created ? json(answer, 201, { location }) : json(answer);
    },

    async trigger(call) {
      const { param } = call;
      const tenant = await tenantOfTeam(call);
      return json(shown(unwrap(await tenant.trigger(param("team"), param("trigger"))), call));
    },

    async deleteTrigger(call) {
      const { param } = call;
      const tenant = await tenantOfTeam(call);
      unwrap(await tenant.deleteTrigger(param("team"), param("trigger")));
      forget(call);
      return new Response(null, { status: 204 });
    },

    async rotateTriggerSecret(call) {
      const { param, body } = call;
      const tenant = await tenantOfTeam(call);
      const rotated = await tenant.rotateTriggerSecret(param("team"), param("trigger"), body);
      forget(call);
      return json(unwrap(rotated));
    },

    async triggerDeliveries(call) {
      const { param, query } = call;
      const tenant = await tenantOfTeam(call);
      const page = await tenant.triggerDeliveries(param("team"), param("trigger"), query);
      return json(unwrap(page));
    },
  });
}
