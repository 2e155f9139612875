import { runDurableObjectAlarm } from "cloudflare:test";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ModelError } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { human } from "../support/components.ts";
import { type Kind, KINDS } from "../support/kinds.ts";
import { answer, settled, type Subject, subjectOf, undisturbed } from "../support/outcome.ts";
import { SEATS, waveWith } from "../support/seats.ts";
import { value } from "../support/team.ts";
import { casesOf, sampled } from "../../support/samples.ts";

/** What may happen the first time an effect is tried. */
const TROUBLES = ["none", "lost", "cancelled", "paused", "looked at", "fails", "stumbles"] as const;
type Trouble = (typeof TROUBLES)[number];

const HELD: ReadonlySet<Trouble> = new Set(["paused", "looked at"]);
const HANGING: ReadonlySet<Trouble> = new Set(["lost", "cancelled"]);

/** One run that troubles befall, seen through to its completion. */
class Ordeal {
  readonly #subject: Subject;
  readonly #troubles: Map<string, Trouble>;
  readonly #held = new Map<string, () => void>();
  #run = "";

  constructor(subject: Subject, troubles: ReadonlyMap<string, Trouble>) {
    this.#subject = subject;
    this.#troubles = new Map(troubles);
    const { effects } = subject;
    for (const [place, trouble] of troubles) {
      if (HANGING.has(trouble)) effects.hang(place);
      if (HELD.has(trouble)) this.#held.set(place, effects.hold(place));
      // What fails in a tool is for the model to read.
      if (trouble === "fails" && !place.includes("/tool:"))
        effects.breakOnce(place, new ModelError("auth", "refused"));
      if (trouble === "stumbles")
        effects.breakOnce(place, new ModelError("server", "not now", { retryAfterMs: 1 }));
    }
  }

  async seeThrough(): Promise<void> {
    const { team, effects } = this.#subject;
    this.#run = (await team.start("go")).id;
    for (let round = 0; round < 200; round++) {
      await effects.quiet(team);
      const run = await team.run(this.#run);
      if (run.status === "completed") return;
      await this.#goOn(run, round);
    }
    throw new Error("the run does not come to its end");
  }

  async #goOn(run: RunInfo, round: number): Promise<void> {
    const { team } = this.#subject;
    // Some answer early, some late.
    const [question] = round % 3 === 0 ? run.requests.toReversed() : run.requests;
    if (question && (run.status !== "running" || round % 2 === 0)) {
      await answer(this.#subject, run, `${question.source} knows`, question.source);
      return;
    }
    switch (run.status) {
      case "failed":
      case "cancelled":
        this.#run = value(await team.gateway.retryRun(run.id)).id;
        return;
      case "paused":
        if (round % 2 === 0) await team.evict();
        value(await team.gateway.resumeRun(run.id));
        return;
      default:
        await this.#next(run);
    }
  }

  /** Deals with one of those that are held up, the others wait; what is lost is lost together. */
  async #next({ id }: RunInfo): Promise<void> {
    const { team, effects } = this.#subject;
    const begun = [...this.#troubles].filter(([place]) => effects.begun.includes(place));
    const held = begun.find(([, one]) => HELD.has(one));
    const hanging = begun.filter(([, one]) => HANGING.has(one));
    const [place, trouble] = held ?? hanging[0] ?? [];
    if (place === undefined) return;
    if (trouble === "paused") await team.gateway.pauseRun(id);
    if (trouble === "looked at") value(await team.gateway.saveState());
    if (trouble === "cancelled") value(await team.gateway.stopRun(id, "now"));
    if (trouble === "lost") await team.evict();
    if (trouble === "lost") await runDurableObjectAlarm(team.stub);
    this.#held.get(place)?.();
    for (const [dealtWith] of held ? [held] : hanging) this.#troubles.delete(dealtWith);
  }
}

const PEOPLE: readonly Kind[] = [
  ...SEATS.map(({ seat, around }) => ({
    name: `a human in ${seat}`,
    component: (effects: Subject["effects"]) => around(human(), effects),
  })),
  waveWith([human({}, "ann"), human({}, "bob")]),
];

describe.each([...KINDS, ...sampled(PEOPLE, 4)])("$name", (kind) => {
  test("comes to the same end, whatever happens to its effects", async () => {
    const { outcome, places } = await undisturbed(kind);
    const fates = fc.array(fc.constantFrom(...TROUBLES), {
      minLength: places.length,
      maxLength: places.length,
    });
    await fc.assert(
      fc.asyncProperty(fates, async (troubles) => {
        const subject = await subjectOf(kind);
        await new Ordeal(
          subject,
          new Map(places.map((place, index) => [place, troubles[index] ?? "none"])),
        ).seeThrough();
        expect(await settled(subject)).toEqual(outcome);
      }),
      { numRuns: casesOf(2), seed: 1 },
    );
  }, 120_000);
});
