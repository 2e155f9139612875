import { setTimeout as sleep } from "node:timers/promises";
import { type Kill, nameOf } from "./harness/kill.ts";
import type { Place } from "./harness/place.ts";
import type { Random } from "./harness/random.ts";
import { Stage } from "./harness/stage.ts";
import { DEADLINE_MS } from "./harness/trial.ts";
import { untilListed } from "./harness/until-listed.ts";
import type { Case } from "./runner.ts";
import { assistant, person, roundRobin, STREAMING } from "./scenarios/components.ts";
import { PACED } from "./scenarios/scenario.ts";

/** How the run ends that messages are sent into. */
const ENDS = ["completed", "failed", "cancelled"] as const;
type End = (typeof ENDS)[number];

/** Writes of an acceptance, a reading and an end; and, of these, those where a short run kills. */
const WRITES = /steering$|idempotency$|event$|step$| run$/;
const MAIN_WRITES = /steering$/;
const MODES = ["lost", "durable"] as const;
const POLL_MS = 8;
const TEXT = "A message into the run.";
/** Tasks of later runs. The turns of a failed run count in the next one, so that each agent speaks in one of two. */
const LATER = ["Once more.", "And again."];
/** The closer fails. */
const REFUSED = {
  name: "refused",
  match: { system: "You are closer." },
  fault: { kind: "status", status: 400 },
} as const;

interface Trial {
  problems: string[];
  /** Labels of all writes of the first process, and how often each occurred. */
  writes: ReadonlyMap<string, number>;
}

/**
 * People send messages into a run while it works, while it waits and as it ends, and start others then. Every message that was
 * accepted is in the log and in the thread exactly once, in the order of acceptance, and was read once, wherever the service is killed.
 */
export async function* steeringCases(
  place: Place,
  long: boolean,
  random: Random,
): AsyncGenerator<Case, void, void> {
  for (const end of ENDS) {
    const reference = await trial(place, end, []);
    yield named(end, "no kill", () => Promise.resolve(reference.problems));
    for (const [label, count] of reference.writes) {
      if (!(long ? WRITES : MAIN_WRITES).test(label)) continue;
      for (let occurrence = 1; occurrence <= count; occurrence++) {
        if (!long && occurrence > 1) continue;
        for (const mode of MODES)
          yield killed(place, end, [{ at: "write", label, occurrence, mode }]);
      }
      const lost: Kill = { at: "write", label, occurrence: 1, mode: "lost" };
      if (long) yield killed(place, end, [lost, lost]);
    }
    for (let count = long ? 30 : 2; count > 0; count--) {
      const kills = Array.from({ length: 3 }, (): Kill => ({
        at: "time",
        ms: random.integer(5, 400),
      }));
      yield killed(place, end, kills);
    }
  }
}

function named(end: End, name: string, run: Case["run"]): Case {
  return { name: `steering: ${end}, ${name}`, run };
}

function killed(place: Place, end: End, plan: readonly Kill[]): Case {
  return named(end, plan.map(nameOf).join(", "), async () => {
    return (await trial(place, end, plan)).problems;
  });
}

async function trial(place: Place, end: End, plan: readonly Kill[]): Promise<Trial> {
  await using stage = await Stage.start(place, { plan });
  const { api, disk, fake, supervisor, writes } = stage;
  if (end === "failed") fake.rules.set([REFUSED, PACED]);
  const agents = [
    assistant({ model: fake.url }, "speaker", STREAMING),
    person("person"),
    assistant({ model: fake.url }, "closer", STREAMING),
  ];
  await api.createTeam(roundRobin(agents, agents.length));
  const { id } = await api.startRun("Speak.");
  const sent: string[] = [];
  const send = async (count: number): Promise<void> => {
    for (; count > 0; count--) {
      const accepted = await api.sendMessage(id, `${TEXT} ${sent.length + 1}.`);
      if (accepted !== undefined) sent.push(accepted);
      stage.touch();
    }
  };
  const problems: string[] = [];
  /** Follows a run on disk, because a request would wake the object. @returns its last status */
  const follow = async (run: string, onQuestion: () => Promise<boolean>): Promise<string> => {
    const answered = new Set<string>();
    for (let version = ""; !stage.later(DEADLINE_MS);) {
      await sleep(POLL_MS);
      const present = disk.version();
      if (present === version) continue;
      version = present;
      const { id: latest, status = "" } = disk.latestRun() ?? {};
      if (latest !== run) continue;
      if (status === "completed" || status === "failed" || status === "cancelled") return status;
      if (status !== "waiting") continue;
      for (const { id: question } of disk.openQuestions()) {
        if (answered.has(question) || !(await onQuestion())) continue;
        answered.add(question);
        await api.answer(run, question, { content: "Go on." });
        stage.touch();
      }
    }
    problems.push(`the run did not end: ${JSON.stringify(disk.rowCounts())}`);
    return "";
  };

  await send(2);
  let waited = false;
  const asked = Promise.withResolvers<void>();
  const following = follow(id, async () => {
    if (!waited) await send(1);
    waited = true;
    asked.resolve();
    if (end === "cancelled") await api.stop(id, "now");
    return end !== "cancelled";
  });
  await Promise.race([asked.promise, following]);
  // It comes before the end, or is refused.
  await send(1);
  const status = await following;
  if (status !== end) problems.push(`the run is ${status}, ${end} expected`);
  fake.rules.set([PACED]);
  for (const task of LATER) {
    const next = await api.startRun(task);
    stage.touch();
    const last = await follow(next.id, () => Promise.resolve(true));
    if (last !== "completed") problems.push(`the run "${task}" is ${last}`);
  }
  problems.push(...(await untilListed(disk, () => stage.later(DEADLINE_MS))));
  await supervisor.calm();
  if (supervisor.killed.length === 0 && plan[0]?.at === "write" && plan[0].occurrence === 1)
    problems.push("it was not killed");

  const ofSent = (ids: readonly string[]): string => ids.filter((one) => sent.includes(one)).join();
  const check = (what: string, found: string, expected: string): void => {
    if (found !== expected) problems.push(`${what}: expected ${expected}, found ${found}`);
  };
  if (sent.length < 3) problems.push(`${sent.length} messages were accepted`);
  check("the log", ofSent((await api.messages()).map((one) => one.id)), sent.join());
  const { agent_states: states } = (await api.state()) as unknown as SavedAgents;
  const thread = states.RoundRobinGroupChatManager.message_thread;
  check("the thread", ofSent(thread.map((one) => one.id)), sent.join());
  const texts = thread.filter((one) => sent.includes(one.id)).map(({ content }) => content);
  for (const name of ["speaker", "closer"] as const) {
    const read = states[name].agent_state.llm_context.messages
      .map(({ content }) => content)
      .filter((content) => String(content).startsWith(TEXT));
    check(`what ${name} has read`, read.join(), texts.join());
  }
  const { steering: rows = 0 } = disk.rowCounts();
  if (rows > 0) problems.push(`${rows} messages are left`);
  return { problems, writes };
}

interface SavedContext {
  agent_state: { llm_context: { messages: { content: unknown }[] } };
}

interface SavedAgents {
  agent_states: {
    speaker: SavedContext;
    closer: SavedContext;
    RoundRobinGroupChatManager: { message_thread: { id: string; content: unknown }[] };
  };
}
