import type { ReactNode } from "react";
import type { Message } from "troupe/client";
import { Avatar, Name } from "../parts/name.tsx";
import { costOf, durationOf, tokensOf, usageText } from "../parts/numbers.ts";
import { Clock } from "../parts/time.tsx";
import { visibleName } from "../text/foreign.ts";
import { Markdown } from "../text/markdown.tsx";
import { Thought } from "../text/thinking.tsx";
import { thoughtIn } from "../text/thought.ts";
import type { Card, Work } from "./entries.ts";
import type { Doing } from "./live.ts";
import { LiveLine } from "./live-line.tsx";
import { MessageBody } from "./message-body.tsx";
import type { CardNumbers } from "./numbers.ts";
import { ToolCalls } from "./tool-calls.tsx";

interface CardRowProps {
  card: Card;
  /** The models, tokens and times. */
  numbers?: CardNumbers | undefined;
  /** The present activity of the agent. */
  doing?: Doing | undefined;
  /** The lead of the server's clock, in milliseconds. */
  ahead: number;
  /** The pause or cancellation that follows this step or turn. */
  soon: string | undefined;
  /** Buttons of a finished message. */
  actions?: ReactNode;
}

/** Consecutive work and words of an agent. */
export function CardRow({ card, numbers, doing, ahead, soon, actions }: CardRowProps) {
  const { source, work, answer, text, printed, cut } = card;
  const time = (answer ?? work.at(-1)?.message)?.created_at;
  return (
    <article
      className="entry"
      data-user={source === "user"}
      data-cut={cut !== undefined}
      aria-busy={answer === undefined && cut === undefined}
    >
      <Avatar source={source} />
      <header>
        <strong>
          <Name name={source} />
        </strong>
        {time !== undefined && (
          <span className="muted">
            <Clock time={time} />
          </span>
        )}
        {numbers && <Numbers numbers={numbers} />}
        {cut !== undefined && <span className="mark">{cut}</span>}
        {answer && cut === undefined && actions}
      </header>
      <Steps card={card} thoughtMs={numbers?.thoughtMs} />
      {answer && (
        <div className="body">
          <MessageBody message={withoutThought(answer)} printed={printed} />
        </div>
      )}
      {answer === undefined && text !== undefined && thoughtIn(text.content).answer !== "" && (
        <div className="body">
          <Markdown text={thoughtIn(text.content).answer} growing />
        </div>
      )}
      {doing && <LiveLine doing={doing} ahead={ahead} soon={soon} />}
      {work.length === 0 && !answer && !text && !doing && cut === undefined && (
        <p className="live">Working</p>
      )}
    </article>
  );
}

/** Thoughts, tool calls and other events before the answer, in one column. A thought keeps its place when it is recorded. */
function Steps({ card, thoughtMs }: { card: Card; thoughtMs: number | null | undefined }) {
  const { work, answer, text } = card;
  const written = answer ? textOf(answer) : text?.content;
  const { thought, open } = thoughtIn(written ?? "");
  const thoughts = work.filter(({ message }) => message.type === "ThoughtEvent").length;
  if (work.length === 0 && thought === undefined) return null;
  let place = 0;
  const single = thoughts + (thought === undefined ? 0 : 1) === 1;
  const ms = single ? thoughtMs : null;
  return (
    <div className="work">
      {work.map((one) =>
        one.message.type === "ThoughtEvent" ? (
          <Thought key={`thought ${place++}`} text={one.message.content} ms={ms} />
        ) : (
          <WorkRow key={one.key} work={one} />
        ),
      )}
      {thought !== undefined && (
        <Thought
          key={`thought ${place}`}
          text={thought}
          streaming={open && !answer && card.cut === undefined}
          ms={ms}
        />
      )}
    </div>
  );
}

function WorkRow({ work }: { work: Work }) {
  return work.kind === "tools" ? (
    <ToolCalls calls={work.calls} />
  ) : (
    <MessageBody message={work.message} inCard />
  );
}

function Numbers({ numbers: { models, tokens, cost, ms } }: { numbers: CardNumbers }) {
  const parts = [
    models.length > 0 && visibleName(models.join(", ")),
    tokens !== undefined && tokensOf(tokens),
    cost !== null && costOf(cost),
    ms !== null && durationOf(ms),
  ].filter((part) => part !== false);
  if (parts.length === 0) return null;
  return (
    <span className="muted usage" title={tokens && usageText(tokens)}>
      {parts.join(" · ")}
    </span>
  );
}

function textOf({ content }: Message & { content?: unknown }): string {
  return typeof content === "string" ? content : "";
}

/** The message without the reasoning at the beginning of its text, which is shown before it. */
function withoutThought(message: Message): Message {
  if (message.type !== "TextMessage") return message;
  const { thought, answer } = thoughtIn(message.content);
  return thought === undefined ? message : { ...message, content: answer };
}
