import type { AnsweredRun, RunInfo } from "#contract/run.ts";
import type { DecisionPage, StoredApprovalPage } from "#contract/approval.ts";
import { assistant, functionTool, roundRobin } from "../../scenarios/components.ts";
import { Session } from "../session.ts";
import { completed, same, type Story } from "./story.ts";

const AGENT = "approval_clerk";
const RULE = {
  when: [{ argument: "expression", matches: "^6" }],
  by: ["approvals:finance"],
  quorum: 2,
  remember: "team",
};

/** A person with a key of their own. */
async function personOf(session: Session, name: string): Promise<Session> {
  const scopes = ["runs:read", "requests:write", "teams:write", "approvals:finance"];
  const { key } = await session.post<{ key: string }>("/keys", { name, scopes });
  return new Session({ ...session.options, credential: key });
}

/** Starts a run and waits until it asks. */
async function asking(session: Session): Promise<{ id: string; path: string }> {
  const { id } = await session.post<RunInfo>("/teams/desk/runs", { task: "Pay." });
  let request: string | undefined;
  await session.until("the run asks", async () => {
    request = (await session.get<RunInfo>(`/teams/desk/runs/${id}`)).requests[0]?.id;
    return request !== undefined;
  });
  return { id, path: `/teams/desk/runs/${id}/requests/${request}` };
}

async function decisionsOf(session: Session, run: string): Promise<string[]> {
  const { decisions } = await session.get<DecisionPage>(`/teams/desk/runs/${run}/decisions`);
  return decisions.map(({ outcome, by }) =>
    [outcome, ...by.map(({ subject, approved }) => `${subject} ${approved}`)].join(", "),
  );
}

/** Two people approve a call for the team, the next run asks no person, and after a revocation one of them refuses. */
export const APPROVALS: Story = {
  name: "approval by rule",
  rules: [
    {
      name: "pays",
      match: { system: `You are ${AGENT}.`, role: "user" },
      reply: { tool_calls: [{ name: "calculator", arguments: { expression: "6 * 7" } }] },
    },
  ],
  async happens(session) {
    const tools = [functionTool("calculator", { approval: RULE })];
    const clerk = assistant({ model: session.options.fake.url }, AGENT, { tools });
    await session.post("/teams", { id: "desk", component: roundRobin([clerk], 1) });
    const [ada, bob] = [await personOf(session, "ada"), await personOf(session, "bob")];
    const first = await asking(session);
    const allow = { approved: true, allow: "team" };
    const counted = await ada.post<AnsweredRun>(first.path, allow);
    same(
      "the first approval",
      counted.approvals?.map(({ subject }) => subject),
      ["ada"],
    );
    await bob.post(first.path, allow);
    await completed(session, "desk", first.id);
    same("who approved", await decisionsOf(session, first.id), ["approved, ada true, bob true"]);

    const { id } = await session.post<RunInfo>("/teams/desk/runs", { task: "Pay." });
    await completed(session, "desk", id);
    same("who had approved", await decisionsOf(session, id), ["ran, ada true, bob true"]);
    const { approvals } = await session.get<StoredApprovalPage>("/teams/desk/approvals");
    same(
      "the stored approvals",
      approvals.map(({ by, uses }) => [...by, uses]),
      [["ada", "bob", 1]],
    );
    await session.delete(`/teams/desk/approvals/${approvals[0]?.id}`);

    const last = await asking(session);
    await bob.post(last.path, { approved: false, reason: "Not again." });
    await completed(session, "desk", last.id);
    same("who refused", await decisionsOf(session, last.id), ["refused, bob false"]);
    const left = await session.get<StoredApprovalPage>("/teams/desk/approvals");
    same("what is left", left.approvals, []);
    session.refusals += ada.refusals + bob.refusals;
  },
};
