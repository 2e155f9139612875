import * as z from "zod";
import { jsonObjectSchema } from "../../json-object.ts";
import type { JsonObject } from "../../json.ts";
import { modelClientPart } from "../../models/model-client-part.ts";
import { loadAll, parseState, statefulAt, stateSchemaOf } from "../../state/load-state.ts";
import { hasState, type StateParts, type Stateful } from "../../state/stateful.ts";
import type { AssistantSettings } from "./settings.ts";

const assistantStateSchema = stateSchemaOf("AssistantAgentState").extend({
  llm_context: jsonObjectSchema.default({ messages: [] }),
  troupe: z.object({ parts: z.record(z.string(), jsonObjectSchema).default({}) }).optional(),
});

/** AutoGen's `AssistantAgentState`; the state of workbenches and memories is under `troupe`. */
export function saveAssistant(settings: AssistantSettings): JsonObject {
  const parts = Object.entries(rememberingParts(settings));
  return {
    type: "AssistantAgentState",
    version: "1.0.0",
    llm_context: settings.modelContext.saveState(),
    ...(parts.length > 0 && {
      troupe: { parts: Object.fromEntries(parts.map(([key, part]) => [key, part.saveState()])) },
    }),
  };
}

/** @throws StateError; then nothing has changed */
export function loadAssistant(settings: AssistantSettings, state: JsonObject): void {
  const data = parseState(assistantStateSchema, state, `the state of "${settings.name}"`);
  const saved = data.troupe?.parts ?? {};
  const parts = Object.entries(rememberingParts(settings)).flatMap(
    ([key, part]): [Stateful, JsonObject][] => {
      const own = saved[key];
      return own === undefined ? [] : [[statefulAt(`troupe.parts.${key}`, part), own]];
    },
  );
  loadAll([[statefulAt("llm_context", settings.modelContext), data.llm_context], ...parts]);
}

/**
 * The pieces a host stores, with the model client where it has a position to keep (the replay client). Memories are among
 * them, even if they have nothing to store: hosts look for those that embed.
 */
export function assistantParts(settings: AssistantSettings): StateParts {
  const { modelContext, modelClient } = settings;
  return {
    children: {
      context: modelContext,
      ...Object.fromEntries([
        ...workbenchesOf(settings).filter(remembers),
        ...memoriesOf(settings),
      ]),
      ...modelClientPart(modelClient),
    },
  };
}

function rememberingParts(settings: AssistantSettings): { [key: string]: Stateful } {
  const parts = [...workbenchesOf(settings), ...memoriesOf(settings)];
  return Object.fromEntries(parts.filter(remembers));
}

function workbenchesOf({
  workbenches,
  toolSearch,
  skills,
}: AssistantSettings): [string, Stateful][] {
  const benches = workbenches.map((bench, index): [string, Stateful] => [
    `workbench-${index}`,
    bench,
  ]);
  const own: [string, Stateful | undefined][] = [
    ["tool-search", toolSearch],
    ["skills", skills],
  ];
  return [
    ...benches,
    ...own.flatMap(([key, part]): [string, Stateful][] =>
      part === undefined ? [] : [[key, part]],
    ),
  ];
}

function memoriesOf({ memory }: AssistantSettings): [string, Stateful][] {
  return memory.map((store, index) => [`memory-${index}`, store]);
}

function remembers([, part]: [string, Stateful]): boolean {
  return hasState(part);
}
