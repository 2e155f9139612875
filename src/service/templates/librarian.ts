import { AssistantAgent } from "../../core/agents/assistant/assistant-agent.ts";
import type { Template } from "../../core/component/template.ts";
import { CollectionMemory } from "../../core/memories/collection-memory.ts";
import { lazyTemplate } from "./lazy-template.ts";
import { replaying } from "./replay.ts";

const COLLECTION = "harbour-library";

const ANSWER = `On Sundays the library is open from 11:00 to 16:00. A new card for a lost one costs 4 euros.

This answer is prepared, because the template needs no model key. The parts of documents that it cites were searched for your question, by their words only: the collection has no embedding.`;

/** An agent that answers from documents and cites them, without a model key. */
export function librarian(): Template {
  return lazyTemplate(
    {
      name: "librarian",
      description:
        "A librarian who answers from a small collection of documents and cites them. Needs no key: the answer is prepared, and documents are found by their words only.",
      task: "When is the library open on Sundays, and what does a lost card cost?",
      collection: {
        id: COLLECTION,
        description: "A small library: its opening hours, its cards, and what it lends.",
        documents: DOCUMENTS,
      },
    },
    () =>
      new AssistantAgent({
        name: "librarian",
        description: "Answers from the documents of the library.",
        systemMessage: "Answer from the documents of the library, and say so if they do not know.",
        modelClient: replaying([ANSWER]),
        modelClientStream: true,
        memory: [new CollectionMemory({ collection: COLLECTION, k: 2 })],
      }),
  );
}

const DOCUMENTS = [
  {
    id: "opening-hours",
    content: `# Opening hours

## Monday to Saturday

From Monday to Friday the library opens at 9:00 and closes at 19:00. On Saturdays it closes at 17:00.

## Sundays and holidays

On Sundays the library is open from 11:00 to 16:00. On public holidays it is closed.
`,
  },
  {
    id: "cards",
    content: `# Library cards

## Get a card

A card is free for children and students. Everyone else pays 18 euros a year. Bring a document with your address.

## A lost card

Tell us at once if you have lost your card, and nobody can borrow with it. A new card for a lost one costs 4 euros.
`,
  },
  {
    id: "borrowing",
    content: `# Borrowing

## Books

You may keep a book for four weeks and renew it twice, unless somebody has reserved it. A book that is late costs 20 cents a day.

## Instruments

The library lends a ukulele, two guitars and a cello, for eight weeks. Strings that break are replaced for free.
`,
  },
];
