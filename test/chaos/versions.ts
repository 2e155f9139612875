import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { RunInfo } from "#contract/run.ts";
import { startEmbeddingServer } from "../support/embedding-server.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { configOfEarlierVersion } from "./harness/earlier-version.ts";
import type { Place } from "./harness/place.ts";
import { SETTINGS, VAR_NAMES } from "./harness/trial.ts";
import { Workerd } from "./harness/workerd.ts";
import { Session } from "./resets/session.ts";
import { embeds } from "./resets/stories/collection.ts";
import { MEMORIES, remembers, knows, USER } from "./resets/stories/memories.ts";
import { completed, run, rulesOf } from "./resets/stories/story.ts";
import type { Case } from "./runner.ts";
import { assistant, person, roundRobin } from "./scenarios/components.ts";

/** No alarm is set further ahead than that. */
const ARMING = { point: null, heartbeatMs: 250 };
/** What an earlier version is asked about objects that the present one has had. */
const READ = ["/teams/done", "/teams/asks/runs", "/teams", "/collections/guide", "/runs"];

/** An earlier version and this one on the same objects, each killed with SIGKILL in the middle of things. */
export async function* versionCases(place: Place): AsyncGenerator<Case, void, void> {
  const names = [...VAR_NAMES, "CHAOS"];
  const earlier = await configOfEarlierVersion(place.scratch, names);
  if (earlier === undefined) {
    console.log(
      "Left out, because git does not have the earlier version: two versions on the same objects.",
    );
    return;
  }
  yield { name: "versions: an upgrade", run: () => trial(place, earlier, false) };
  yield { name: "versions: an upgrade, back, and again", run: () => trial(place, earlier, true) };
}

async function trial(
  { scratch, config, sandbox }: Place,
  earlier: string,
  back: boolean,
): Promise<string[]> {
  await using fake = await startFakeOpenAI({ rules: rulesOf([MEMORIES]) });
  await using embeddings = await startEmbeddingServer();
  const state = mkdtempSync(join(scratch, "state-"));
  const vars = {
    ...SETTINGS,
    EFFECTS_URL: "http://127.0.0.1:1",
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
  };
  const versions = { earlier, present: config };
  let current: Workerd | undefined;
  const start = async (version: keyof typeof versions): Promise<void> => {
    await current?.kill();
    current = new Workerd({ config: versions[version], state, vars });
    await current.start(ARMING);
  };
  const session = new Session({
    // The tenant of a local server, whatever its requests name: so does the earlier version.
    tenant: "local",
    origin: () => current?.origin ?? "",
    fake,
    embeddings: embeddings.url,
  });
  try {
    await start("earlier");
    await begin(session);
    await start("present");
    if (back) {
      await session.get("/teams/asks");
      await start("earlier");
      const problems = await refusals(session);
      if (problems.length > 0) return problems;
      await start("present");
    }
    await finish(session);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    await current?.kill();
  }
}

/** What the earlier version begins, and is killed in the middle of. */
async function begin(session: Session): Promise<void> {
  const { fake } = session.options;
  const asks = roundRobin([assistant({ model: fake.url }, "speaker"), person("person")], 2);
  await session.post("/teams", {
    id: "done",
    component: roundRobin([remembers(session, "user")], 1),
  });
  await session.post("/teams", { id: "asks", component: asks });
  await run(session, "done", "Talk.", { user: USER });
  for (const task of ["one", "two"]) {
    await session.post("/teams/asks/runs", { task, on_conflict: "queue" });
  }
  await session.put("/collections/guide", { embedding: session.embedding });
  await session.put("/collections/guide/documents/begun", {
    mime_type: "text/plain",
    content: "It has begun.",
  });
}

/** What this version makes of it. */
async function finish(session: Session): Promise<void> {
  await session.until("the document of the earlier version is ready", async () => {
    const path = "/collections/guide/documents/begun";
    return (await session.get<{ status: string }>(path)).status === "ready";
  });
  await embeds(session, "later");
  await knows(session, "user", []);
  const { runs } = await session.get<{ runs: RunInfo[] }>("/teams/asks/runs");
  for (const { id } of runs.toReversed()) {
    const path = `/teams/asks/runs/${id}`;
    await session.until(
      "it asks",
      async () => (await session.get<RunInfo>(path)).requests.length > 0,
    );
    const [question] = (await session.get<RunInfo>(path)).requests;
    await session.post(`${path}/requests/${question?.id}`, { content: "Go on." });
    await completed(session, "asks", id);
  }
  await run(session, "done", "Talk again.", { user: USER });
  await knows(session, "user", []);
}

/** What the earlier version answers about objects that it may not know any more: as before, or 503. */
async function refusals(session: Session): Promise<string[]> {
  const problems: string[] = [];
  for (const path of READ) {
    const { status } = await session.ask("GET", path);
    if (status !== 200 && status !== 503)
      problems.push(`the earlier version answers ${status} to ${path}`);
  }
  return problems;
}
