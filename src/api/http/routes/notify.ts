import { notifyCommands } from "../../../contract/commands/notify.ts";
import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { TokenRecord } from "../../../contract/gateways/tenant-gateway.ts";
import { refuse, type Result } from "../../../contract/result.ts";
import type { AskedRequest } from "../../../contract/run.ts";
import { equalInConstantTime } from "../../../core/equal.ts";
import { hashOfTicket, type LinkedRequest } from "../../../notify/answer-links.ts";
import { mayAnswerByLink } from "../../../notify/linkable.ts";
import { isLeft } from "../access/token-makers.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type Endpoint, json } from "../endpoint/endpoint.ts";
import { ProblemError, unwrap } from "../endpoint/problem.ts";
import { type Services, tenantOf } from "../endpoint/services.ts";
import { readForm } from "../input/body.ts";
import { readReceivers } from "../input/receivers.ts";
import { answerOf } from "./answer-fields.ts";
import { answeredPage, answerProblemPage, endedPage, questionPage } from "./answer-pages.ts";
import { PAGE } from "./html-page.ts";

/** Receivers of messages about teams, and the pages of the links in these messages. */
export function notifyEndpoints(services: Services): Endpoint[] {
  const endpoints = commandEndpoints(notifyCommands, services, {
    async putNotify({ body, principal, team, param, c }) {
      const id = param("team");
      const tenant = tenantOf(services, principal.tenant);
      const by = { principal, team, request: c.req.raw };
      const given = await readReceivers(services, body.notify, by);
      const stored = unwrap(await tenant.putNotify(id, given));
      const after = await team.creation();
      if (after.ok && after.value === given.origin.creation) return json(stored);
      // The team was deleted meanwhile: a later one with its id must not get the receivers.
      await tenant.dropNotify(id);
      unwrap(after);
      throw teamReplaced();
    },

    async notify({ principal, team, param }) {
      unwrap(await team.creation());
      return json(await tenantOf(services, principal.tenant).notify(param("team")));
    },

    async answerPage({ query: { ticket } }) {
      const link = await openLink(services, ticket);
      return link.state === "open" ? questionPage(link.request, link.label) : ended(link);
    },

    async answerByLink({ query: { ticket }, c }) {
      requireOwnPage(c.req.raw);
      const link = await openLink(services, ticket);
      if (link.state !== "open") return ended(link);
      const answer = answerOf(link.request, await readForm(c.req.raw));
      if (typeof answer === "string") {
        const problem = { status: 422, code: "invalid_answer", detail: answer };
        throw new ProblemError(problem);
      }
      const { team, linked, by } = link;
      // A rule that names approvers does not name whoever has a link.
      const answering = { by, approver: { subject: by, scopes: [] } };
      const given = await team.answer(linked.run, linked.request, answer, answering);
      if (given.ok) return answeredPage(wordsOf(answer));
      // Another answer may have come in between, or the run has ended.
      const now = await stateOf(services, linked, link.record);
      if (now.state !== "open") return ended(now);
      throw new ProblemError(given.problem);
    },
  });
  return endpoints.map((one) =>
    one.scope === null ? { ...one, refusal: { media: PAGE, write: answerProblemPage } } : one,
  );
}

interface OpenLink {
  state: "open";
  team: TeamGateway;
  linked: LinkedRequest;
  record: TokenRecord;
  request: AskedRequest;
  label: string;
  /** As the record of the answer names who gave it. */
  by: string;
}

interface EndedLink {
  state: "ended";
  title: string;
  detail: string;
}

function ended({ title, detail }: EndedLink): Response {
  return endedPage(410, title, detail);
}

/** @throws ProblemError 404 for an address that no message had; no object is asked about one */
async function openLink(services: Services, ticket: string): Promise<OpenLink | EndedLink> {
  const links = await services.answerLinks?.();
  const linked = await links?.read(ticket);
  if (linked === undefined) {
    const detail = "There is no such link. Perhaps its address was not copied as a whole.";
    throw new ProblemError({ status: 404, code: "link_not_found", detail });
  }
  const { tenant, team, id } = linked;
  const record = await tenantOf(services, tenant).tokenRecord(team, id);
  const isSame =
    record?.answers?.request === linked.request &&
    equalInConstantTime(record.answers.hash, await hashOfTicket(ticket));
  return stateOf(
    services,
    linked,
    isSame && (await isMade(services, tenant, record)) ? record : null,
  );
}

/** False after the static key that made it was removed from the settings. */
async function isMade(services: Services, tenant: string, record: TokenRecord): Promise<boolean> {
  return isLeft(record.ends_with, (await services.teamTokens?.configured(tenant)) ?? new Set());
}

/** @param record null if the list of the team's tokens has no such link */
async function stateOf(
  { gateway }: Services,
  linked: LinkedRequest,
  record: TokenRecord | null,
): Promise<OpenLink | EndedLink> {
  const { tenant, team: id, run, request } = linked;
  const team = gateway.team(tenant, id, { credential: `link:${linked.id}`, sees: NO_LOGINS });
  const asked: Result<AskedRequest> = await team.request(run, request);
  if (!asked.ok) return gone(asked.problem.status, asked.problem.code, asked.problem.detail);
  const { status, answered_by, answered_at } = asked.value;
  if (status === "expired") {
    return end("Too late", `Nobody answered until ${answered_at}, so the default answer counts.`);
  }
  if (status === "answered") {
    const who = answered_by === null ? "" : ` ${answered_by}`;
    return end("Already answered", `The question was answered${who} at ${answered_at}.`);
  }
  if (record?.answers === undefined) {
    return end(
      "This link has ended",
      "It was revoked, or it has expired. The question is open: answer it in the console.",
    );
  }
  if (!mayAnswerByLink(asked.value)) {
    return end(
      "This is for named people",
      "A rule says who may answer it, or that several have to. Answer it in the console with credentials of your own.",
    );
  }
  const by = `by link (${record.answers.receiver})`;
  return { state: "open", team, linked, record, request: asked.value, label: id, by };
}

const NO_LOGINS = { tenant: false, user: null } as const;

/** @throws ProblemError where nothing is known of the request */
function gone(status: number, code: string, detail: string): EndedLink {
  if (code === "team_not_found") return end("The team was deleted", "Its questions ended with it.");
  if (code === "run_not_found") return end("The run is gone", "Its questions ended with it.");
  if (code === "request_not_found") return end("The question is closed", detail);
  throw new ProblemError({ status, code, detail });
}

function end(title: string, detail: string): EndedLink {
  return { state: "ended", title, detail };
}

function wordsOf(answer: object): string {
  if (!("approved" in answer)) return "Answered";
  return answer.approved === true ? "Approved" : "Refused";
}

/** A form of another site is not the page of the link. Old browsers do not say where a form comes from. */
function requireOwnPage({ headers }: Request): void {
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return;
  const detail = "A question is answered on its own page only. Open the address of the link.";
  throw new ProblemError({ status: 403, code: "foreign_page", detail });
}

function teamReplaced(): ProblemError {
  return new ProblemError(refuse(404, "team_not_found", "The team was deleted meanwhile.").problem);
}
