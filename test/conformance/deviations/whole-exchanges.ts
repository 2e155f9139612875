import { type Json, type LLMMessage } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { loneParts } from "../../support/lone-parts.ts";
import { sameJson, textOf } from "../trace.ts";
import type { Recogniser } from "./place.ts";

const NOTE = /^Skipped \d+ messages\.$/;

/** Contexts show calls with all of their results, and count what they leave out. */
export const CONTEXTS: readonly Recogniser[] = [
  {
    class: "whole-exchanges",
    explains: ({ step, played }) => {
      if (step.op !== "context_get" || played.error !== undefined) return false;
      const [recorded, ours] = [listOf(step["messages"]), listOf(played.actual["messages"])];
      const isWhole = loneParts(ours as readonly LLMMessage[]).length === 0;
      const isTorn = loneParts(recorded as readonly LLMMessage[]).length > 0;
      const countDiffers = sameJson(recorded.map(withoutCount), ours.map(withoutCount));
      return isWhole && (isTorn || countDiffers);
    },
  },
];

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function withoutCount(message: Json): Json {
  const isNote = isJsonObject(message) && NOTE.test(textOf(message["content"]));
  return isNote ? { ...message, content: "Skipped messages." } : message;
}
