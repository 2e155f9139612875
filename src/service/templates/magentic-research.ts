import type { Template } from "../../core/component/template.ts";
import { MagenticOneGroupChat } from "../../core/teams/magentic-one/magentic-one-group-chat.ts";
import type { Team } from "../../core/teams/team.ts";
import { lazyTemplate } from "./lazy-template.ts";
import { repeating, replaying } from "./replay.ts";

const FACTS = `GIVEN
- The question: is the night train from Vienna to Paris worth it for two people?

TO LOOK UP
- The fare of the train, and of a flight with a bag.

TO DERIVE
- Both prices for two people, door to door, with the night in a hotel that the train saves.

GUESSES
- The flight is cheaper at first sight.`;

const PLAN = `1. researcher: find the fares of train and flight for two.
2. analyst: compare the two, the saved night included.`;

const FACTS_AFTER = `GIVEN
- Train for two in a compartment: 2 × 129 = 258 euros.
- Flight for two with a bag: 2 × 95 = 190 euros.
- The first comparison forgot the airport transfers and the night in a hotel: it is void.

TO LOOK UP
- none

TO DERIVE
- The comparison with transfers (2 × 38 euros) and one night (110 euros).

GUESSES
- none`;

const PLAN_AFTER = `The comparison was incomplete, and repeating it would not have helped.

1. analyst: compare again, line by line, with transfers and hotel.`;

const ORCHESTRATOR = [
  FACTS,
  PLAN,
  ledger({ speaker: "researcher", say: "What do train and flight cost for two people?" }),
  ledger({ speaker: "analyst", say: "Compare the two, the saved night included." }),
  ledger({ progress: false, speaker: "analyst", say: "Compare again." }),
  FACTS_AFTER,
  PLAN_AFTER,
  ledger({
    speaker: "analyst",
    say: "Compare again, line by line: fares, transfers of 38 euros each, one night at 110 euros.",
  }),
  ledger({ satisfied: true, speaker: "analyst", say: "Nothing more." }),
  "**Take the night train.** For two people it costs 258 euros. The flight looks cheaper at 190, but with transfers and the night in a hotel it comes to 376 euros.",
];

const RESEARCHER = [
  "The night train costs 129 euros a person in a compartment for two. The flight costs 95 euros a person with a bag.",
];

const ANALYST = [
  "190 euros is less than 258 euros, so the flight wins.",
  "| | train | flight |\n|---|---|---|\n| fares | 258 | 190 |\n| transfers | 0 | 76 |\n| one night | 0 | 110 |\n| **sum** | **258** | **376** |\n\nThe train is cheaper by 118 euros.",
];

/** An orchestrator with two ledgers, which makes a new plan when the work stalls. */
export function magenticResearch(): Template {
  return lazyTemplate(
    {
      name: "magentic_research",
      description:
        "A Magentic-One team: an orchestrator writes down facts and a plan, instructs a researcher and an analyst, notices that they are stuck, and makes a new plan. Works without a model: ledgers and texts are prepared.",
      task: "Is the night train from Vienna to Paris worth it for two people?",
    },
    team,
  );
}

interface Ledger {
  satisfied?: boolean;
  progress?: boolean;
  speaker: string;
  say: string;
}

/** A progress ledger as the model writes it. */
function ledger({ satisfied = false, progress = true, speaker, say }: Ledger): string {
  const entry = (answer: boolean | string, reason: string) => ({ reason, answer });
  return JSON.stringify({
    is_request_satisfied: entry(
      satisfied,
      satisfied ? "The comparison is complete." : "The comparison is not complete.",
    ),
    is_in_loop: entry(false, "Nothing was repeated."),
    is_progress_being_made: entry(progress, progress ? "There is news." : "Costs were forgotten."),
    next_speaker: entry(speaker, "It is their step of the plan."),
    instruction_or_question: entry(say, "It is what is missing."),
  });
}

function team(): Team {
  const participants = [
    repeating("researcher", "Looks things up.", RESEARCHER),
    repeating("analyst", "Calculates and compares.", ANALYST),
  ];
  return new MagenticOneGroupChat(participants, {
    modelClient: replaying(ORCHESTRATOR),
    maxTurns: null,
    maxStalls: 1,
  });
}
