import type { TroupeServer } from "../serve/troupe-server.ts";

/** A time so late that schedules which are due then never start. */
const LATER = "2099-01-01T00:00:00Z";

/** Something that a team has beside its runs, and that its deletion has to remove. */
type Belonging = (server: TroupeServer, team: string) => Promise<unknown>;

const BELONGINGS: readonly Belonging[] = [
  (server, team) =>
    server.json("POST", `/v1/teams/${team}/schedules`, { id: "later", at: LATER, task: "Later." }),
  (server, team) =>
    server.json("PUT", `/v1/teams/${team}/triggers/orders`, {
      kind: "plain",
      task: "An order: {{ order }}",
    }),
  (server, team) =>
    server.json("POST", `/v1/teams/${team}/tokens`, { scopes: ["runs:write"], expires_in: 3_600 }),
  (server, team) =>
    server.json("PUT", `/v1/teams/${team}/notify`, {
      notify: [{ kind: "webhook", url: "https://receiver.example/", on: ["run.failed"] }],
    }),
  (server, team) =>
    server.json("PUT", `/v1/teams/${team}/tool`, {
      name: `tool-${team.slice(-12)}`,
      description: "Asks this team.",
      input_schema: { type: "object", properties: { question: { type: "string" } } },
      task: "{{ question }}",
    }),
];

/** A run that waits for an answer is deleted with its question. */
const ENDS: ReadonlySet<string> = new Set(["completed", "waiting"]);

export interface Life {
  server: TroupeServer;
  component: object;
  /** The key of the request that makes the team. */
  key: string;
  runs: number;
  /** True if it gets a schedule, a trigger, a token, a receiver and a tool of its own. */
  belongings: boolean;
}

/** Makes a team, has it run, and deletes it. @returns its id */
export async function liveAndDie({
  server,
  component,
  key,
  runs,
  belongings,
}: Life): Promise<string> {
  const team = { component, user: "ada", label: "soak" };
  const made = await server.send("POST", "/v1/teams", team, { "idempotency-key": key });
  const { id } = (await made.json()) as { id: string };
  if (belongings) for (const give of BELONGINGS) await give(server, id);
  for (let run = 0; run < runs; run++) {
    const { status } = await server.json<{ status: string }>(
      "POST",
      `/v1/teams/${id}/runs?wait=60`,
      { task: `Task ${run}` },
    );
    if (!ENDS.has(status)) throw new Error(`a run is ${status}`);
  }
  await (await server.send("DELETE", `/v1/teams/${id}`)).text();
  return id;
}
