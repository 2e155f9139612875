import type { Template } from "../../core/component/template.ts";
import { MaxMessageTermination } from "../../core/conditions/max-message-termination.ts";
import { DiGraphBuilder } from "../../core/teams/graph-flow/di-graph-builder.ts";
import { GraphFlow } from "../../core/teams/graph-flow/graph-flow.ts";
import type { Team } from "../../core/teams/team.ts";
import { lazyTemplate } from "./lazy-template.ts";
import { repeating } from "./replay.ts";

const DRAFTS = [
  "**Draft 1.** Version 2 is out. It has many improvements and is faster than before. Update when you like.",
  "**Draft 2.** Version 2 starts twice as fast and no longer loses what you typed when the connection drops. Update when you like.",
  "**Draft 3.** Version 2 starts in half the time and keeps what you typed when the connection drops. Update before 1 June: version 1 gets no fixes after that day.",
];

const REVIEWS = [
  '"Many improvements" says nothing. Name the two that readers will notice. REVISE',
  "Better: these are things people feel. But why should anybody update now? Say until when version 1 is maintained. REVISE",
  "Short, concrete, and it says what to do by when. APPROVED",
];

const GRAMMAR = [
  "No mistakes. Two sentences, both in the present tense, both with a subject that acts.",
];

const FACTS = [
  'Checked against the measurements: 1.9 s before, 0.9 s now, so "half the time" holds. The end of maintenance on 1 June is what the support page says.',
];

const EDITIONS = [
  "Published:\n\n> Version 2 starts in half the time and keeps what you typed when the connection drops. Update before 1 June: version 1 gets no fixes after that day.",
];

/** A graph with a loop, a fork and a join. */
export function reviewLoop(): Template {
  return lazyTemplate(
    {
      name: "review_loop",
      description:
        "A GraphFlow with a loop: a draft goes back to its writer until the reviewer approves it. Then grammar and facts are checked side by side, and the editor publishes. Works without a model: the agents repeat prepared texts.",
      task: "Announce version 2 of our app in two sentences.",
    },
    team,
  );
}

function team(): Team {
  const writer = repeating("writer", "Writes announcements and revises them.", DRAFTS);
  const reviewer = repeating("reviewer", "Says REVISE with a reason, or APPROVED.", REVIEWS);
  const grammar = repeating("grammar", "Checks the language.", GRAMMAR);
  const facts = repeating("facts", "Checks what is claimed.", FACTS);
  const editor = repeating("editor", "Publishes what was approved and checked.", EDITIONS);
  const graph = new DiGraphBuilder()
    .addNode(writer)
    .addNode(reviewer)
    .addNode(grammar)
    .addNode(facts)
    .addNode(editor)
    .addEdge(writer, reviewer)
    .addEdge(reviewer, writer, { condition: "REVISE" })
    .addEdge(reviewer, grammar, { condition: "APPROVED" })
    .addEdge(reviewer, facts, { condition: "APPROVED" })
    .addEdge(grammar, editor)
    .addEdge(facts, editor)
    .setEntryPoint(writer);
  return new GraphFlow(graph.getParticipants(), graph.build(), {
    terminationCondition: new MaxMessageTermination(30),
  });
}
