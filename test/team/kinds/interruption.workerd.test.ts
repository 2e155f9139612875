import { describe, expect, test } from "vitest";
import type { ComponentModel, Json, Message } from "troupe";
import { Effects } from "../support/effects.ts";
import { KINDS } from "../support/kinds.ts";
import { settled, stateOf, subjectOf, threadOf, undisturbed } from "../support/outcome.ts";
import { hooks } from "../support/scripted-agent.ts";
import { TestTeam, value } from "../support/team.ts";
import { sampled } from "../../support/samples.ts";

/** The scripts of all agents of a test in a component, however deep. */
function scriptsIn(component: ComponentModel): string[] {
  return [...JSON.stringify(component).matchAll(/"script":"([^"]+)"/g)].map(
    ([, name = ""]) => name,
  );
}

/** Where a run is stopped, and who speaks in the next one: after the turn was finished, after it was given up. */
interface Stopped {
  at: string;
  finished: string;
  givenUp: string;
}

const STOPPED: { [kind: string]: Stopped } = {
  RoundRobinGroupChat: { at: "2/speaker:b/work", finished: "a b a b", givenUp: "b a b a" },
  SelectorGroupChat: { at: "2/manager/model:1", finished: "a b c a", givenUp: "c a b c" },
  Swarm: { at: "3/speaker:b/model:0", finished: "c c c c c", givenUp: "b c c c c" },
  MagenticOneGroupChat: {
    at: "4/manager/model:plan",
    finished: "lead lead b lead",
    givenUp: "lead lead b lead",
  },
  GraphFlow: {
    at: "2/speaker:right/work",
    finished: "judge left right judge last",
    givenUp: "left right judge left right judge last",
  },
  "a node that is ready twice": { at: "2/speaker:c/model:0", finished: "a b c c", givenUp: "c c" },
  "teams three deep": {
    at: "2/speaker:middle/turn:2/speaker:inner/turn:1/speaker:c/model:0",
    finished: "a b c d a b c d",
    givenUp: "b c d a b c d a",
  },
  SocietyOfMindAgent: {
    at: "1/speaker:mind/model:0",
    finished: "c mind c",
    givenUp: "mind c mind",
  },
  AgentTool: {
    at: "1/speaker:boss/tool:0:1/turn:1/work",
    finished: "b user worker user clerk user worker boss b",
    givenUp: "user worker user clerk user worker boss b user worker user clerk user worker boss",
  },
  TeamTool: {
    at: "1/tool:0:1/turn:1/speaker:start/model:0",
    finished: "boss",
    givenUp: "boss",
  },
  MessageFilterAgent: { at: "3/speaker:c/work", finished: "a b c a b", givenUp: "c a b c a" },
  "a wave of teams": {
    at: "2/speaker:mind/model:0",
    finished: "end",
    givenUp: "mind x y user clerk user clerk chief end",
  },
};

describe.each(KINDS)("$name", (kind) => {
  test("can be paused in the middle of every effect, and tells each agent once", async () => {
    const { outcome, places } = await undisturbed(kind);
    const effects = new Effects();
    const component = kind.component(effects);
    const team = await TestTeam.create(component);
    // What comes after the last effect cannot be paused: the run is over then.
    const pausedAt = sampled(places.slice(0, -1), 4);
    const next = (): string | undefined => pausedAt.find((place) => !effects.begun.includes(place));
    let place = next();
    let release = place === undefined ? undefined : effects.hold(place);
    const { id } = await team.start("go");
    let pauses = 0;
    while (place !== undefined) {
      await effects.until(place);
      value(await team.gateway.pauseRun(id));
      release?.();
      expect(await team.rested(id), place).toMatchObject({ status: "paused" });
      expect(await team.alarm()).toBeNull();
      if (++pauses % 2 === 0) await team.evict();
      place = next();
      if (place !== undefined) release = effects.hold(place);
      value(await team.gateway.resumeRun(id));
    }
    expect(await team.finished(id)).toMatchObject({ status: "completed" });
    expect(await settled({ effects, team })).toEqual(outcome);
    for (const name of scriptsIn(component)) {
      const own = hooks.filter((hook) => hook.startsWith(`${name} `));
      const expected = Array.from({ length: pauses }, () => [`${name} pause`, `${name} resume`]);
      expect(own).toEqual(expected.flat());
    }
  });

  test.each(["after_turn", "now"] as const)("stopped %s takes another run", async (mode) => {
    const { at, finished, givenUp } = STOPPED[kind.name] as Stopped;
    const { subject: reference } = await undisturbed(kind);
    const { effects, team } = await subjectOf(kind);
    const release = effects.hold(at);
    const { id } = await team.start("go");
    await effects.until(at);
    value(await team.gateway.stopRun(id, mode));
    release();
    const run = await team.finished(id);
    expect(run.status).toBe(mode === "now" ? "cancelled" : "completed");
    expect(run.turns).toBe(Number.parseInt(at) - (mode === "now" ? 1 : 0));
    const fork = await reference.team.fork(run.turn);
    // A run that was finished counts its turns from the beginning again.
    expect(uncounted(await stateOf(team))).toEqual(uncounted(await stateOf(fork)));

    const next = await team.finished((await team.start("once more")).id);
    expect(next).toMatchObject({ status: "completed" });
    expect(await speakersSince("once more", team)).toBe(mode === "now" ? givenUp : finished);
    await settled({ effects, team });
  });
});

function uncounted(state: Json): Json {
  return JSON.parse(
    JSON.stringify(state, (key, part: Json) => (key === "current_turn" ? 0 : part)),
  ) as Json;
}

/** Who spoke after a task, in the order of the thread; of a lone agent only the agent. */
async function speakersSince(task: string, team: TestTeam): Promise<string> {
  const thread = threadOf(value(await team.gateway.saveState()));
  const { messages } = value(await team.gateway.messages({ limit: 200 }));
  const said: Message[] = thread.length > 0 ? thread : messages.slice(-1);
  return said
    .slice(said.findIndex((message) => "content" in message && message.content === task) + 1)
    .filter(({ type }) => type.endsWith("Message"))
    .map(({ source }) => (source === "MagenticOneOrchestrator" ? "lead" : source))
    .join(" ");
}
