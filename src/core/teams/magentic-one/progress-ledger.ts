import * as z from "zod";
import { issuesOf, listIssues } from "../../issues.ts";
import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import type { JsonOutput } from "../../models/chat-completion-client.ts";
import type { ModelInfo } from "../../models/model-info.ts";
import { type JsonReading, readJson } from "../../text/model-json.ts";
import { pythonTruth } from "../../text/python.ts";

/** The assessment in a progress ledger. */
export type Assessment =
  | { satisfied: true; reason: string }
  | { satisfied: false; stalling: boolean; speaker: string; instruction: string };

/** A ledger and its assessment, or why the ledger cannot be followed. */
export type LedgerReading = { entry: LedgerEntry; assessment: Assessment } | { fault: string };

const entrySchema = z.object({ reason: z.json(), answer: z.json() });

export const ledgerSchema = z.object({
  is_request_satisfied: entrySchema,
  is_in_loop: entrySchema,
  is_progress_being_made: entrySchema,
  next_speaker: entrySchema,
  instruction_or_question: entrySchema,
});

/** A progress ledger (AutoGen `LedgerEntry`): answers with their reasons. */
export type LedgerEntry = z.output<typeof ledgerSchema>;

/** The form in which a model gives a ledger: by a schema if it can follow one, as JSON if it can write that. */
export function ledgerOutput({ structuredOutput, jsonOutput }: ModelInfo): JsonOutput | null {
  if (structuredOutput === true) return { name: "LedgerEntry", schema: JSON_SCHEMA };
  return jsonOutput ? true : null;
}

/**
 * Reads a progress ledger (AutoGen `LedgerEntry`): a JSON object, bare or {@link readJson in other text}. Values that are
 * not booleans count by Python's truth rules, since not every model can be held to a schema.
 *
 * @param names the participants; a single one is chosen whatever name the ledger gives
 */
export function readLedger(text: string, names: readonly string[]): LedgerReading {
  const written = readJson(text, (value) => entryOf(withOnlySpeaker(value, names)));
  if ("fault" in written) return written;
  const entry = written.value;
  const { is_request_satisfied: satisfied, next_speaker, instruction_or_question } = entry;
  if (pythonTruth(satisfied.answer)) {
    return typeof satisfied.reason === "string"
      ? { entry, assessment: { satisfied: true, reason: satisfied.reason } }
      : { fault: "is_request_satisfied.reason: must be a text" };
  }
  const speaker = names.find((name) => name === next_speaker.answer);
  if (speaker === undefined) {
    return { fault: `next_speaker.answer: must be one of ${names.join(", ")}` };
  }
  const instruction = instruction_or_question.answer;
  if (typeof instruction !== "string") {
    return { fault: "instruction_or_question.answer: must be a text" };
  }
  const stalling =
    !pythonTruth(entry.is_progress_being_made.answer) || pythonTruth(entry.is_in_loop.answer);
  return { entry, assessment: { satisfied: false, stalling, speaker, instruction } };
}

function entryOf(value: Json): JsonReading<LedgerEntry> {
  const { data, error } = ledgerSchema.safeParse(value);
  return data === undefined ? { fault: listIssues(issuesOf(error)) } : { value: data };
}

function withOnlySpeaker(ledger: Json, names: readonly string[]): Json {
  const [name, another] = names;
  if (name === undefined || another !== undefined || !isJsonObject(ledger)) return ledger;
  return { ...ledger, next_speaker: { reason: "nobody else is there", answer: name } };
}

/** The schema as AutoGen sends it. */
const JSON_SCHEMA: JsonObject = {
  $defs: {
    LedgerEntryBooleanAnswer: entryJsonSchema("LedgerEntryBooleanAnswer", "boolean"),
    LedgerEntryStringAnswer: entryJsonSchema("LedgerEntryStringAnswer", "string"),
  },
  properties: {
    is_request_satisfied: { $ref: "#/$defs/LedgerEntryBooleanAnswer" },
    is_in_loop: { $ref: "#/$defs/LedgerEntryBooleanAnswer" },
    is_progress_being_made: { $ref: "#/$defs/LedgerEntryBooleanAnswer" },
    next_speaker: { $ref: "#/$defs/LedgerEntryStringAnswer" },
    instruction_or_question: { $ref: "#/$defs/LedgerEntryStringAnswer" },
  },
  required: Object.keys(ledgerSchema.shape),
  title: "LedgerEntry",
  type: "object",
};

function entryJsonSchema(title: string, type: "boolean" | "string"): JsonObject {
  return {
    properties: { reason: { title: "Reason", type: "string" }, answer: { title: "Answer", type } },
    required: ["reason", "answer"],
    title,
    type: "object",
  };
}
