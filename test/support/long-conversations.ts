import { uniform } from "../sqlite/recall/generated-vectors.ts";

/** What one of two friends says on a day. */
export interface Turn {
  id: string;
  speaker: string;
  day: string;
  text: string;
}

export interface Question {
  text: string;
  /** The turns that answer it. */
  evidence: string[];
}

export interface Conversation {
  turns: Turn[];
  questions: Question[];
}

const MONTHS = ["January", "March", "April", "June", "August", "September", "November"];
const PEOPLE = ["my sister", "a colleague", "our neighbour", "my cousin Ravi", "my grandmother"];
const PLACES = [
  "the harbour",
  "the old library",
  "a mountain hut",
  "the farmers' market",
  "the community centre",
  "Lisbon",
  "the train station",
  "the museum",
];
const THINGS = [
  ["painting", "a watercolour of the lighthouse"],
  ["guitar", "a second-hand guitar with 12 strings"],
  ["dog", "a puppy that we named Biscuit"],
  ["camera", "a film camera from 1974"],
  ["bicycle", "a folding bicycle"],
  ["recipe", "a recipe for pumpkin soup"],
  ["garden", "seeds for the tomato garden"],
  ["book", "a book about black holes"],
  ["telescope", "a small telescope"],
  ["tent", "a tent for four people"],
  ["piano", "piano lessons"],
  ["pottery", "a bowl in the pottery class"],
] as const;
const FACTS = [
  { said: "found", asked: "find", more: "and it made me so happy" },
  { said: "lost", asked: "lose", more: "and I could not stop thinking about it" },
  { said: "gave away", asked: "give away", more: "because we did not need it any more" },
  { said: "talked about", asked: "talk about", more: "and it was more fun than I had thought" },
] as const;
const SMALL_TALK = [
  "That's great to hear! How did you feel about it?",
  "Thanks, it means a lot. What have you been doing since we talked?",
  "Wow, I did not know that you were doing this with them!",
  "I was thinking about what you said the last time, and you were right.",
  "It has been a long week, but when I am at home I try to rest.",
  "Did you have a good time? I would like to go there with you.",
  "Sounds good! What did the others say when you did that?",
  "I'm so glad that we can talk about these things.",
];

/** Two friends who talk in many sessions: few turns tell something, the others are small talk; questions have natural words. */
export function longConversation(
  speakers: readonly [string, string],
  turnCount: number,
  seed: number,
): Conversation {
  const random = uniform(seed);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const turns: Turn[] = [];
  const questions: Question[] = [];
  const asked = new Set<string>();
  for (let n = 0; n < turnCount; n++) {
    const speaker = speakers[n % 2] as string;
    const day = `${1 + (Math.floor(n / 25) % 28)} ${MONTHS[Math.floor(n / 25) % MONTHS.length]} 2024`;
    const id = `D${1 + Math.floor(n / 25)}:${1 + (n % 25)}`;
    if (random() < 0.6) {
      turns.push({ id, speaker, day, text: `${one(SMALL_TALK)} ${one(SMALL_TALK)}` });
      continue;
    }
    const [kind, thing] = one(THINGS);
    const { said, asked: verb, more } = one(FACTS);
    const [person, place] = [one(PEOPLE), one(PLACES)];
    const text = `Guess what, I ${said} ${thing} with ${person} at ${place} ${more}.`;
    turns.push({ id, speaker, day, text: `${one(SMALL_TALK)} ${text}` });
    const who = person.replace(/^(my|our|a) /, "");
    const question = one([
      `What did ${speaker} ${verb} when ${speaker} was with the ${who} at ${place}?`,
      `Where was it that ${speaker} and the ${who} did ${verb} the ${kind}?`,
      `Who was with ${speaker} at ${place} on ${day}, and what was it about the ${kind}?`,
    ]);
    if (!asked.has(question)) questions.push({ text: question, evidence: [id] });
    asked.add(question);
  }
  return { turns, questions };
}
