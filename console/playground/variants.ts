import type { Message, RunInfo, TeamClient, ThreadMessage } from "troupe/client";
import type { ComponentData, CatalogueTeam } from "../component/catalogue.ts";
import { namedFork } from "../conversation/fork.ts";
import { agentPath, modelPath } from "../component/parts.ts";
import { type ValuePath, valueAt } from "../component/value-path.ts";
import { configOf, listOf, textOf } from "../picture/component-json.ts";

export const FEWEST = 2;
export const MOST = 4;

/** A way in which the task is tried. */
export interface Variant {
  component: ComponentData;
  /** The fork that runs it; undefined before, and when it could not be started. */
  fork: string | undefined;
  /** Why it could not be started. */
  error: Error | undefined;
}

/** `A`, `B`. */
export function letterOf(index: number): string {
  return String.fromCharCode(65 + index);
}

/** A part of a team whose prompt and model can be varied. */
export interface Varied {
  name: string;
  path: ValuePath;
  /** The place of its prompt; undefined if it has none. */
  prompt: ValuePath | undefined;
  model: ValuePath | undefined;
}

const PROMPTS = ["system_message", "selector_prompt", "instructions", "instruction"];

/** The agents of a team with a prompt or a model, and its manager. */
export function variedIn(component: ComponentData): Varied[] {
  const members = listOf(configOf(component)["participants"]);
  const places: (readonly [string, ValuePath])[] =
    members.length === 0
      ? [[textOf(configOf(component)["name"]), []]]
      : [
          ...members.map(
            (member, index) =>
              [textOf(configOf(member)["name"]), ["config", "participants", index]] as const,
          ),
          ["The team's manager", []],
        ];
  return places.flatMap(([name, around]) => {
    const path = agentPath(component, around);
    const part = valueAt(component, path) as ComponentData;
    const model = modelPath(component, path);
    const config = configOf(part);
    const existing = PROMPTS.find((key) => config[key] != null);
    const key =
      existing ?? (part.provider.endsWith("AssistantAgent") ? "system_message" : undefined);
    const prompt = key === undefined ? undefined : [...path, "config", key];
    return prompt === undefined && model === undefined ? [] : [{ name, path, prompt, model }];
  });
}

/** The agent in which components differ, by its place in the list; the first one if they are the same. */
export function differingAgent(
  varied: readonly Varied[],
  components: readonly ComponentData[],
): number {
  const found = varied.findIndex(({ path, prompt, model }) => {
    const texts = components.map((component) =>
      JSON.stringify(
        path.length === 0
          ? [prompt, model].map((inner) => inner && valueAt(component, inner))
          : valueAt(component, path),
      ),
    );
    return new Set(texts).size > 1;
  });
  return Math.max(0, found);
}

/** The point at which the forks of the variants begin. */
export type Start = "last" | "now" | "empty";

/** The turn after which the forks begin. @param last the last task */
export function turnOf(start: Start, last: ThreadMessage | undefined, turn: number): number {
  if (start === "empty") return 0;
  return start === "now" || last === undefined ? turn : Math.max(0, last.turn - 1);
}

/** A running fork with another component. Without it, the fork is erased again. */
export async function runVariant(
  team: TeamClient,
  component: ComponentData,
  turn: number,
  task: string,
): Promise<string> {
  const { metadata } = await team.get();
  const fork = await namedFork(team, { turn, metadata: { ...metadata, playground: true } });
  try {
    await fork.replaceComponent(component as CatalogueTeam);
    await fork.start(task);
  } catch (error) {
    await fork.delete();
    throw error;
  }
  return fork.id;
}

/** The text of the last message of an agent, without tasks, events and messages that only end the run. */
export function answerIn(messages: readonly Message[]): string | undefined {
  const last = messages.findLast(
    (message): message is Extract<Message, { content: string }> =>
      !message.type.endsWith("Event") &&
      message.type !== "StopMessage" &&
      message.source !== "user" &&
      typeof (message as { content?: unknown }).content === "string",
  );
  return last?.content;
}

/** The duration of a run, so far if it is active. */
export function durationIn(
  run: Pick<RunInfo, "started_at" | "ended_at">,
  now: number,
): number | undefined {
  if (run.started_at === null) return undefined;
  const end = run.ended_at === null ? now : Date.parse(run.ended_at);
  return Math.max(0, end - Date.parse(run.started_at));
}
