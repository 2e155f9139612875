// For each invariant of a durable turn, T1 to T8 in src/team/engine/durable-turn.ts, changes that break it. The tests that begin
// with its number have to notice each of them: `npm run mutants -- --invariants`.

/**
 * @typedef {object} InvariantMutant
 * @property {string} invariant
 * @property {string} file
 * @property {string} text what stands there exactly once
 * @property {string} replacement
 */

const JOURNAL = "src/team/engine/journal/turn-journal.ts";

/** @type {readonly InvariantMutant[]} */
export const INVARIANT_MUTANTS = [
  {
    invariant: "T1",
    file: "src/team/engine/durable-turn.ts",
    text: "    parts.team.drop();\n",
    replacement: "",
  },
  {
    invariant: "T1",
    file: JOURNAL,
    text: "    return record;\n  }\n\n  stepStarted(",
    replacement: "    return undefined;\n  }\n\n  stepStarted(",
  },
  { invariant: "T2", file: JOURNAL, text: "    this.#parts.stores.db.flush();\n", replacement: "" },
  {
    invariant: "T3",
    file: JOURNAL,
    text: 'if (step.policy !== "retry") steps.started(key, traced);\n    else if',
    replacement: "if",
  },
  {
    invariant: "T4",
    file: "src/team/storage/runs/run-store.ts",
    text: "record.first_turn_id : `${record.id}/${turn}`",
    replacement: "record.first_turn_id : `${record.id}/${turn}/${Math.random()}`",
  },
  {
    invariant: "T5",
    file: "src/team/engine/turn-commit.ts",
    text: "    steps.clear();\n",
    replacement: "",
  },
  {
    invariant: "T5",
    file: "src/team/engine/run-outcome.ts",
    text: "active.events.retractAll()",
    replacement: "active.events.retractOutstanding()",
  },
  {
    invariant: "T6",
    file: "src/team/stream/live-feed.ts",
    text: "    if (frames > 0) this.#db.flush();\n",
    replacement: "",
  },
  {
    invariant: "T7",
    file: JOURNAL,
    text: "  ended(key: string, step: StepRecord & { outcome: StepOutcome }): void {\n    this.#check();\n",
    replacement: "  ended(key: string, step: StepRecord & { outcome: StepOutcome }): void {\n",
  },
  {
    invariant: "T8",
    file: "src/team/engine/run-engine.ts",
    text: "    alarm.set(this);\n",
    replacement: "",
  },
];
