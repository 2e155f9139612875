import { useCallback } from "react";
import type { NotedTeam, Template } from "troupe/client";
import { type TeamView, useTroupe } from "troupe/react";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { Empty } from "../parts/empty.tsx";
import { Problem } from "../parts/problem.tsx";
import { Markdown } from "../text/markdown.tsx";
import { useMay } from "../shell/access.tsx";

interface EmptyConversationProps {
  team: TeamView;
  info: NotedTeam | undefined;
}

/** Suggests a task for a team without messages: the one of its template. */
export function EmptyConversation({ team, info }: EmptyConversationProps) {
  const template = info?.metadata["template"];
  const mayRun = useMay("runs:write");
  return (
    <div className="empty-conversation">
      <Empty
        title="No messages yet."
        text={mayRun ? "Give the team a task below." : "Its messages appear here."}
      />
      {mayRun && typeof template === "string" && <Suggestion name={template} team={team} />}
    </div>
  );
}

function Suggestion({ name, team }: { name: string; team: TeamView }) {
  const client = useTroupe();
  const load = useCallback(async (): Promise<Template | undefined> => {
    const templates = await client.templates();
    return templates.find((template) => template.name === name);
  }, [client, name]);
  const { value } = useLoaded(load);
  const task = useButtonAction();
  const text = value?.task;
  if (text === undefined) return null;
  return (
    <section className="suggestion" aria-label="A task to try">
      <Markdown text={text} />
      <Problem error={task.error} />
      <button
        className="button primary"
        type="button"
        disabled={task.busy}
        aria-busy={task.busy}
        onClick={() => void task.run(() => team.send(text))}
      >
        Try this task
      </button>
    </section>
  );
}
