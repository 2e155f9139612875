import { check } from "./harness/checks.ts";
import { digestOf } from "./harness/journal.ts";
import { type Kill, nameOf } from "./harness/kill.ts";
import type { Random } from "./harness/random.ts";
import type { Place } from "./harness/place.ts";
import { type Outcome, SPECTATORS, trial, type TrialOptions } from "./harness/trial.ts";
import type { Plan } from "./kill-points.ts";
import type { Case } from "./runner.ts";
import { FAULTY, SCENARIOS } from "./scenarios/all.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { Statistics } from "./statistics.ts";
import { checkFault, faultRule, type UpstreamFault } from "./upstream-faults.ts";

/** Makes cases of trials: each runs a scenario and compares it with the same one without kills and faults. */
export class Trials {
  readonly statistics = new Statistics();
  readonly #place: Place;
  readonly #references = new Map<Scenario, Promise<Outcome>>();

  constructor(place: Place) {
    this.#place = place;
  }

  /** The scenario without kills, and without a stop: what was stopped must be the beginning of it. */
  reference(scenario: Scenario): Promise<Outcome> {
    const known = this.#references.get(scenario);
    if (known !== undefined) return known;
    const { stop: _stop, ...whole } = scenario;
    const outcome = this.#run({ scenario: whole, plan: [], spectator: "stays" });
    this.#references.set(scenario, outcome);
    return outcome;
  }

  killed(scenario: Scenario, { kills, spectator }: Plan): Case {
    const plan = kills.map(nameOf).join(", ") || "no kill";
    return {
      name: `${scenario.name}: ${plan}; client ${spectator}`,
      run: async () => {
        const [outcome, problems] = await this.#compare({ scenario, plan: kills, spectator });
        const missed = outcome.killed.length === 0 && isSure(scenario, kills[0]);
        return missed ? [...problems, "the kill did not take place"] : problems;
      },
    };
  }

  randomlyKilled(random: Random): Case {
    const kills = Array.from({ length: random.integer(1, 4) }, (): Kill => ({
      at: "time",
      ms: random.integer(5, 500),
    }));
    return this.killed(random.pick(SCENARIOS), { kills, spectator: random.pick(SPECTATORS) });
  }

  faulty(fault: UpstreamFault): Case {
    return {
      name: `${FAULTY.name}: ${fault.name}`,
      run: async () => {
        const { pause: patience = 0 } = fault;
        const options = { scenario: FAULTY, plan: [], spectator: "stays", patience } as const;
        const faults = [faultRule(fault)];
        if (fault.fails === undefined) {
          const [outcome, problems] = await this.#compare({ ...options, faults });
          return [...problems, ...checkFault(fault, outcome)];
        }
        const outcome = await this.#run({ ...options, faults });
        return [...outcome.problems, ...checkFault(fault, outcome)];
      },
    };
  }

  async #compare(options: Omit<TrialOptions, keyof Place>): Promise<[Outcome, string[]]> {
    const reference = await this.reference(options.scenario);
    const outcome = await this.#run(options);
    const problems = check(options.scenario, outcome, reference);
    this.statistics.add(outcome, problems, new Set(outcome.requests.map(digestOf)).size);
    return [outcome, problems];
  }

  #run(options: Omit<TrialOptions, keyof Place>): Promise<Outcome> {
    return trial({ ...options, ...this.#place });
  }
}

/**
 * Whether the run must come to this point. Heartbeats, stops and pauses come when they come, and how far the others have
 * come when one of several sides fails is a matter of time, too; so is what is delivered to the tenant together, and with it
 * how often the outbox and the alarm are written.
 */
function isSure({ stop, pause, fails, sideBySide }: Scenario, kill: Kill | undefined): boolean {
  if (stop !== undefined || pause !== undefined || (fails && sideBySide)) return false;
  return kill?.at === "write" && !/ (alarm|outbox)$/.test(kill.label);
}
