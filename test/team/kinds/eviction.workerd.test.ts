import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { KINDS } from "../support/kinds.ts";
import { settled, subjectOf, undisturbed } from "../support/outcome.ts";
import { sampled } from "../../support/samples.ts";

describe.each(KINDS)("$name", (kind) => {
  test("ends as if nothing had happened when its object is lost at any effect", async () => {
    const { outcome, places, subject } = await undisturbed(kind);
    await settled(subject);
    for (const place of sampled(new Set(places))) {
      const { effects, team } = await subjectOf(kind);
      effects.hang(place);
      const { id } = await team.start("go");
      await effects.until(place);
      await effects.quiet(team);
      await team.evict();
      await runDurableObjectAlarm(team.stub);
      // The alarm alone has it run again; asking for the team would do so, too.
      await effects.until(place, 2);
      expect(await team.finished(id), place).toMatchObject({ status: "completed" });
      expect(await settled({ effects, team }), place).toEqual(outcome);
    }
  });

  test("ends so, too, when it is lost at every effect in turn", async () => {
    const { outcome, ...reference } = await undisturbed(kind);
    const places = sampled(reference.places, 4);
    const { effects, team } = await subjectOf(kind);
    for (const place of places) effects.hang(place);
    const { id } = await team.start("go");
    for (const place of places) {
      await effects.until(place);
      // Side by side with one that was lost already.
      if (effects.begun.filter((other) => other === place).length > 1) continue;
      await effects.quiet(team);
      await team.evict();
      await runDurableObjectAlarm(team.stub);
    }
    expect(await team.finished(id)).toMatchObject({ status: "completed" });
    expect(await settled({ effects, team })).toEqual(outcome);
  });
});
