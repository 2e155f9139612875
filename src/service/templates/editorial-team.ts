import type { Template } from "../../core/component/template.ts";
import { MaxMessageTermination } from "../../core/conditions/max-message-termination.ts";
import { TextMentionTermination } from "../../core/conditions/text-mention-termination.ts";
import { SelectorGroupChat } from "../../core/teams/selector/selector-group-chat.ts";
import type { Team } from "../../core/teams/team.ts";
import { lazyTemplate } from "./lazy-template.ts";
import { repeating, replaying } from "./replay.ts";

/** The replies of the model that selects the next speaker. */
const SELECTIONS = ["writer", "critic", "writer", "critic", "editor"];

const DRAFTS = [
  "The sea had been quiet for so long that the lighthouse keeper had begun to talk to it. Tonight, for the first time, it answered.",
  "The sea had been quiet for nine days. On the tenth evening the keeper, who had begun to talk to it, stopped in the middle of a sentence: it had finished the sentence for him.",
];

const REVIEWS = [
  'The turn is good, but "for so long" is vague and "answered" tells what you could show. How long? And what does the sea do?',
  'Now it is a story. "Nine days" and the finished sentence do the work. Over to the editor.',
];

const EDITIONS = [
  "FINAL, with one cut:\n\n> The sea had been quiet for nine days. On the tenth evening the keeper stopped in the middle of a sentence: the sea had finished it for him.",
];

/** Three agents; a model selects the next speaker. */
export function editorialTeam(): Template {
  return lazyTemplate(
    {
      name: "editorial_team",
      description:
        "A writer, a critic and an editor in a SelectorGroupChat: a model reads the conversation and selects who speaks next, until the editor has the final text. Works without a model: selections and texts are prepared.",
      task: "Write the beginning of a story about a lighthouse.",
    },
    team,
  );
}

function team(): Team {
  const participants = [
    repeating("writer", "Writes drafts and revises them.", DRAFTS),
    repeating("critic", "Reads drafts and says what to change.", REVIEWS),
    repeating("editor", "Makes the final text of a draft without open notes.", EDITIONS),
  ];
  return new SelectorGroupChat(participants, {
    modelClient: replaying(SELECTIONS),
    emitTeamEvents: true,
    terminationCondition: new TextMentionTermination("FINAL", { sources: ["editor"] }).or(
      new MaxMessageTermination(30),
    ),
  });
}
