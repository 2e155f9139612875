import { beginningOf } from "troupe/client";
import type { RunInfo } from "troupe/client";
import { Link } from "wouter";
import { Fact } from "../parts/facts.tsx";
import { HeadingLevel } from "../parts/heading.tsx";
import { Name } from "../parts/name.tsx";
import { costOf, tokensOf, usageText } from "../parts/numbers.ts";
import { Ago, Elapsed, Exact } from "../parts/time.tsx";
import { Markdown } from "../text/markdown.tsx";
import { preview } from "../text/preview.ts";
import { placeInConversation } from "../team/place.ts";

interface RunFactsProps {
  run: RunInfo;
  label: string | null | undefined;
}

/** A run's task, duration and usage. */
export function RunFacts({ run, label }: RunFactsProps) {
  const models = Object.entries(run.models);
  const firstTurn = Math.max(1, run.turn - run.turns);
  return (
    <div className="run-facts">
      <dl>
        <Fact name="Team">
          <Link href={`/teams/${run.team_id}`}>
            <Name name={label ?? run.team_id} />
          </Link>
        </Fact>
        <Fact name="Conversation">
          {run.started_at === null ? (
            "Not yet"
          ) : (
            <Link href={placeInConversation(run.team_id, firstTurn)}>From turn {firstTurn}</Link>
          )}
        </Fact>
        <Fact name="Started">{run.started_at ? <Exact time={run.started_at} /> : "Not yet"}</Fact>
        {run.ended_at && (
          <Fact name="Ended">
            <Exact time={run.ended_at} />
          </Fact>
        )}
        <Fact name="Duration">
          {run.started_at ? <Elapsed from={run.started_at} to={run.ended_at} /> : "0 s"}
        </Fact>
        <Fact name="Turns">{run.turns}</Fact>
        <Fact name="Tokens">{usageText(run.usage)}</Fact>
        {run.cost !== null && <Fact name="Cost">{costOf(run.cost)}</Fact>}
        {run.retry_of !== null && (
          <Fact name="Retry of">
            <Link href={`/teams/${run.team_id}/runs/${run.retry_of}`}>
              {run.retry_of.slice(0, 8)}
            </Link>
          </Fact>
        )}
        {run.error?.agent && (
          <Fact name="Failed in">
            <Name name={run.error.agent} />
          </Fact>
        )}
      </dl>
      <dl className="wide-only">
        {models.length > 0 && (
          <Fact name="Models">
            {models.map(([model, used]) => (
              <span key={model} className="model-use">
                <Name name={model} />{" "}
                {models.length > 1 && (
                  <span className="muted">
                    {tokensOf(used)}
                    {used.cost !== null && `, ${costOf(used.cost)}`}
                  </span>
                )}
              </span>
            ))}
          </Fact>
        )}
        <Fact name="Created">
          <Ago time={run.created_at} />
        </Fact>
        <Fact name="ID">
          <code>{run.id}</code>
        </Fact>
      </dl>
      <TaskSummary task={run.task} />
    </div>
  );
}

/** The most characters of the task that are shown before it is unfolded. */
const BRIEF = 300;

/** The task of the run, shortened until it is unfolded. */
function TaskSummary({ task }: { task: RunInfo["task"] }) {
  const texts = textsOf(task);
  if (texts.length === 0) return <p className="muted task">Continues the conversation.</p>;
  return (
    <details className="task">
      <summary>
        <span className="muted">Task</span>{" "}
        <span className="task-brief">{preview(beginningOf(texts[0] ?? "", BRIEF))}</span>
      </summary>
      <HeadingLevel value={2}>
        {texts.map((text, index) => (
          <Markdown key={index} text={text} />
        ))}
      </HeadingLevel>
    </details>
  );
}

function textsOf(task: unknown): string[] {
  if (!Array.isArray(task)) return [];
  return task.map(({ content }: { content?: unknown }) => {
    if (typeof content === "string") return content;
    if (!Array.isArray(content)) return JSON.stringify(content, null, 2);
    return content.map((part) => (typeof part === "string" ? part : "(image)")).join("\n");
  });
}
