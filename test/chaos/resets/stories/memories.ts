import type { RunInfo } from "#contract/run.ts";
import type { RuleInput } from "../../../support/fake-openai/rule.ts";
import { assistant, component, roundRobin } from "../../scenarios/components.ts";
import type { Session } from "../session.ts";
import { run, type Story } from "./story.ts";

export const USER = "ada";
const SCOPES = ["team", "user", "tenant"] as const;
type Scope = (typeof SCOPES)[number];

const LEARNED = "Ada takes her tea without milk.";
const ADDED = "Ada was born in London.";
const remembered = (scope: Scope): string => `This belongs to the ${scope}.`;

/** Agents that remember for one scope each, and a model that finds the same fact in each conversation. */
const RULES: readonly RuleInput[] = [
  {
    name: "facts",
    match: { system: "You keep the long-term memory" },
    reply: { content: JSON.stringify({ facts: [LEARNED] }) },
  },
  ...SCOPES.map((scope): RuleInput => ({
    name: `remembers for the ${scope}`,
    match: { system: `You are ${scope}.`, role: "user" },
    reply: {
      tool_calls: [{ name: "remember", arguments: { content: remembered(scope) } }],
    },
  })),
];

export function remembers(session: Session, scope: Scope) {
  const { embedding, modelClient } = session;
  const memory = component("troupe.memory.VectorMemory", {
    scope,
    embedding,
    writable: true,
    extract: { model_client: modelClient },
  });
  return assistant({ model: session.options.fake.url }, scope, { memory: [memory] });
}

/** What is stored in a scope, by its text. */
async function contents(session: Session, scope: Scope): Promise<string[]> {
  const place = { team: "&team=team", user: `&user=${USER}`, tenant: "" }[scope];
  const page = await session.get<{ memories: { content: string }[] }>(
    `/memories?scope=${scope}${place}`,
  );
  return page.memories.map(({ content }) => content);
}

/** Waits until a scope has each fact once: those of its agent, and others. */
export async function knows(
  session: Session,
  scope: Scope,
  others: readonly string[],
): Promise<void> {
  const expected = [...others, LEARNED, remembered(scope)].toSorted().join("\n");
  let found = "";
  const isKnown = async (): Promise<boolean> => {
    found = (await contents(session, scope)).toSorted().join("\n");
    return found === expected;
  };
  await session.until(`the ${scope} knows it all once`, isKnown, () => found);
}

export const MEMORIES: Story = {
  name: "memories in three scopes",
  rules: RULES,
  async happens(session) {
    const agents = SCOPES.map((scope) => remembers(session, scope));
    await session.post("/teams", { id: "team", component: roundRobin(agents, agents.length) });
    const place = { team: { team: "team" }, user: { user: USER }, tenant: {} };
    for (const scope of SCOPES) {
      await session.post("/memories", { scope, ...place[scope], content: ADDED });
    }
    const { id } = await run(session, "team", "Talk.", { user: USER });
    for (const scope of SCOPES) await knows(session, scope, [ADDED]);
    const { notes = [] } = await session.get<RunInfo>(`/teams/team/runs/${id}`);
    if (notes.length > 0) throw new Error(`the run has notes: ${JSON.stringify(notes)}`);
    await session.until("the directory lists the run", async () => {
      const { runs } = await session.get<{ runs: RunInfo[] }>("/runs");
      return runs.length === 1 && runs[0]?.status === "completed";
    });
  },
};

export const DELETION: Story = {
  name: "deletion of a tenant",
  async happens(session) {
    await session.put(`/tenants/${session.tenant}`, { label: "Short-lived" });
    const agents = [remembers(session, "user")];
    for (const id of ["one", "two"]) {
      await session.post("/teams", { id, component: roundRobin(agents, 1) });
    }
    await session.post("/memories", { scope: "user", user: USER, content: ADDED });
    await session.put("/collections/guide", {});
    await session.put("/collections/guide/documents/d", {
      mime_type: "text/plain",
      content: ADDED,
    });
    await run(session, "one", "Talk.", { user: USER });
    const tenant = `/tenants/${session.tenant}`;
    await session.delete(tenant);
    await session.untilGone(tenant);
    await session.untilGone("/teams/one");
    await session.untilGone("/teams/two");
    await session.untilGone("/collections/guide");
    const left = await contents(session, "user");
    if (left.length > 0) throw new Error(`of the user is left: ${left.join("; ")}`);
  },
};
