import type { Answer, HumanRequest, RunInfo } from "troupe/client";
import { OutcomeOfRequest } from "../answers/outcome.tsx";
import { textOfTask } from "../answers/use-whole-task.ts";
import { Answerable, type AnswerableProps } from "./answerable.tsx";
import { useCardKeys } from "./use-card-keys.ts";
import { useDelayedAnswers } from "./use-delayed-answers.ts";
import { answerKeyOf, useKept } from "./use-kept.ts";
import { useCard } from "./use-card.ts";
import { useSteady } from "./use-steady.ts";

interface RequestDockProps {
  teamId: string;
  /** The run that asks. */
  run: Pick<RunInfo, "id" | "task"> | null;
  requests: readonly HumanRequest[];
  onAnswer: (request: HumanRequest, answer: Answer) => Promise<unknown>;
}

/** The approvals, forms, tool calls and logins that wait for the user of a team's page. */
export function RequestDock({ teamId, run, requests, onAnswer }: RequestDockProps) {
  const { cards } = useKept(
    requests.map((request) => ({ ...request, team_id: teamId, run_id: run?.id ?? "" })),
    "closed",
  );
  const { delayed, give, undo } = useDelayedAnswers();
  const steady = useSteady<HTMLDivElement>("list");
  useCardKeys(steady.ref);
  const task = run ? textOfTask(run.task) : undefined;
  return (
    <div className="dock-forms" {...steady}>
      {cards.map(({ key, request, open }) => (
        <DockCard
          key={key}
          request={request}
          outcome={<OutcomeOfRequest request={request} asking={request} />}
          task={task}
          open={open}
          delayed={delayed.get(answerKeyOf(request))}
          onAnswer={(answer) => give(answerKeyOf(request), answer, () => onAnswer(request, answer))}
          onUndo={() => undo(answerKeyOf(request))}
        />
      ))}
    </div>
  );
}

function DockCard(props: AnswerableProps) {
  const { open, delayed } = props;
  const asking = open && (delayed === undefined || delayed.phase === "failed");
  return (
    <div {...useCard(asking)} tabIndex={-1} className="dock-card" data-open={asking}>
      <Answerable {...props} />
    </div>
  );
}
