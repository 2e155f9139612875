import { PLAN_HEADING } from "../../messages/ledger-plan.ts";

/**
 * The prompts with which the orchestrator of a MagenticOneGroupChat asks its model, as templates over `{task}`, `{team}`,
 * `{facts}`, `{plan}` and `{names}`; a literal brace is written twice. `team` has a line for each participant, `names`
 * their names with commas between them.
 */
export interface OrchestratorPrompts {
  /** Asks for the known facts about the task, before the plan. */
  taskLedgerFacts: string;
  /** Asks for a plan, in the same conversation. */
  taskLedgerPlan: string;
  /** Not a question: gives the participants the task, the team, the facts and the plan. */
  taskLedgerFull: string;
  /** Asks for the progress ledger: a JSON object with its five entries. */
  progressLedger: string;
  /** Asks for an updated list of facts when the work has stalled. */
  taskLedgerFactsUpdate: string;
  /** Asks for another plan, in the same conversation. */
  taskLedgerPlanUpdate: string;
}

export const DEFAULT_PROMPTS: OrchestratorPrompts = {
  taskLedgerFacts: `Take stock of what is known about the request below before anybody acts on it. Do not solve it and do not plan yet.

Request:
"""
{task}
"""

Fill in these four lists, in this order and under these headings. Short points; write "none" where a list is empty.

GIVEN
What the request itself states: facts, figures, names, dates, limits, the form the result must have. Copy numbers, names and quotations exactly.

TO LOOK UP
What has to be read somewhere, and where: the page, file, database or person, as far as the request says so or you can tell.

TO DERIVE
What follows from other facts by calculating, comparing, reasoning or running code, and from which ones.

GUESSES
What you believe from memory, or suppose, and nobody has checked. Say how sure you are of each point.`,

  taskLedgerPlan: `This team is going to do the work. There is nobody else to turn to:

{team}

Using your four lists, write the plan. Number the steps; for each, name the member who takes it, what to do, and what will show that it is done. Put first what other steps depend on. Check guesses before anything is built on them. Leave out members who have nothing to add. End with the step that brings about what the request asks for, in the form it asks for. Stay as short as the request allows: a simple one needs one or two steps.`,

  taskLedgerFull: `We are a team, and this is the request we work on:

{task}

The members of the team:

{team}

What we know about the request so far, and what we do not know:

{facts}

${PLAN_HEADING}

{plan}`,

  progressLedger: `Judge where the work on this request stands:

{task}

The team, of whom nobody sees anything but the conversation above:

{team}

Decide five things from that conversation alone:

- is_request_satisfied: is everything that was asked for done, and is the result there to read? No, as long as a part is missing, was only promised, or is a guess nobody checked although the team could.
- is_in_loop: are the same instructions, actions or answers coming back without anything new? This may stretch over many messages, for instance trying one search or one failing command again and again.
- is_progress_being_made: did the latest messages bring the work forward, by results or by ruling something out? Yes, if nobody has acted yet. No, if attempts keep failing or something the plan relies on cannot be had.
- next_speaker: which member acts next? Exactly one of these names: {names}
- instruction_or_question: what do you say to that member? Address them; ask for one thing they are able to do, and include every detail they need (values, names, links, paths, the form of the answer), also those that came up earlier.

All five are needed, even when the request is satisfied. Reply with one JSON object and nothing around it, giving each reason, in a sentence or two, before its answer:

{{
  "is_request_satisfied": {{ "reason": "text", "answer": true or false }},
  "is_in_loop": {{ "reason": "text", "answer": true or false }},
  "is_progress_being_made": {{ "reason": "text", "answer": true or false }},
  "next_speaker": {{ "reason": "text", "answer": "one of: {names}" }},
  "instruction_or_question": {{ "reason": "text", "answer": "text" }}
}}`,

  taskLedgerFactsUpdate: `The work on this request is stuck:

{task}

These were the facts when it began:

{facts}

Write the four lists anew, complete, under the same headings (GIVEN, TO LOOK UP, TO DERIVE, GUESSES). The conversation above will be deleted and only your lists stay, so:

- Put every result worth keeping under GIVEN, exactly and with where it came from, next to what the request states.
- Correct or strike out what turned out to be wrong, and say that it did.
- Note what was tried in vain: sources that do not have it, tools and ways that fail.
- Go over the guesses: which are settled now, which have become more or less likely, and which new ones suggest another way?`,

  taskLedgerPlanUpdate: `Say in two or three sentences what held the work up: the cause, not its symptoms.

Then write a new plan for the same team, which is still all there is:

{team}

The plan must get around that cause. Do not repeat what failed: take another source, another method, another member, or smaller steps with a check after each, and say what to do if the riskiest step fails. The members will have forgotten everything but your lists and this plan, so begin where the results so far leave off and not at the beginning. Number the steps as before; for each, name the member, what to do and what will show that it is done. Keep it short.`,
};

/** Sent verbatim: AutoGen fills in nothing here, and a dumped component must behave the same there. */
export const DEFAULT_FINAL_ANSWER_PROMPT = `The work on the request ends here. Write the answer to whoever made the request; they have not seen this conversation and will read nothing else.

Give what was asked for, in the form that was asked for, the result first. Use what the conversation established, with figures, names and quotations exactly as they stand there, and add nothing that it does not support. If a part is missing or uncertain, say which and why. Do not tell how the team worked unless that was asked.`;
