import { type FormEvent, type KeyboardEvent, useState } from "react";
import type { RunInfo, Task, TeamClient } from "troupe/client";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { IconButton } from "../parts/icon-button.tsx";
import { Problem } from "../parts/problem.tsx";
import { useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";
import { useMay } from "../shell/access.tsx";

interface QueueProps {
  handle: TeamClient;
  queued: readonly RunInfo[];
  /** Gets the text of a message that was taken back. */
  onTakeBack: (text: string) => void;
}

/** The messages that wait for the end of the run, in their order. Each can be changed or taken back. */
export function Queue({ handle, queued, onTakeBack }: QueueProps) {
  if (queued.length === 0) return null;
  return (
    <ol className="queue" aria-label="Queued messages">
      {queued.map((run) => (
        <Queued key={run.id} handle={handle} run={run} onTakeBack={onTakeBack} />
      ))}
    </ol>
  );
}

function Queued({
  handle,
  run,
  onTakeBack,
}: { handle: TeamClient; run: RunInfo } & Pick<QueueProps, "onTakeBack">) {
  const [edited, setEdited] = useState<string>();
  const { attempt } = useNotices();
  const saving = useButtonAction();
  const mayRun = useMay("runs:write");
  const text = textOf(run.task);
  const takeBack = (): void => {
    void attempt(async () => {
      await handle.stop(run.id, "now");
      if (text !== undefined) onTakeBack(text);
    });
  };
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void saving.run(async () => {
      await handle.changeQueued(run.id, withText(run.task, edited ?? ""));
      setEdited(undefined);
    });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === "Escape") setEdited(undefined);
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };
  if (edited !== undefined) {
    return (
      <li>
        <form className="queue-edit" onSubmit={save}>
          <textarea
            autoFocus
            rows={2}
            required
            aria-label="Queued message"
            value={edited}
            onChange={(event) => setEdited(event.target.value)}
            onKeyDown={onKeyDown}
          />
          <Problem error={saving.error} />
          <div className="buttons">
            <button className="button small" type="button" onClick={() => setEdited(undefined)}>
              Back
            </button>
            <button className="button small primary" aria-busy={saving.busy}>
              Save
            </button>
          </div>
        </form>
      </li>
    );
  }
  return (
    <li>
      <span className="queue-text">
        {text === undefined ? "Run without a message" : visibleName(text) || "Files"}
      </span>
      {mayRun && text !== undefined && (
        <IconButton icon="edit" name="Edit message" onClick={() => setEdited(text)} />
      )}
      {mayRun && <IconButton icon="close" name="Remove message" onClick={takeBack} />}
    </li>
  );
}

interface Said {
  content?: unknown;
}

/** The text of a task that is one message; undefined for other tasks. */
function textOf(task: RunInfo["task"]): string | undefined {
  const [message, another] = (task ?? []) as Said[];
  if (message === undefined || another !== undefined) return undefined;
  const { content } = message;
  if (typeof content === "string") return content;
  return Array.isArray(content)
    ? content.filter((part) => typeof part === "string").join("\n")
    : undefined;
}

/** The task with another text and the same files. */
function withText(task: RunInfo["task"], text: string): Task {
  const [message] = (task ?? []) as Said[];
  if (!Array.isArray(message?.content)) return text;
  const files = message.content.filter((part) => typeof part !== "string");
  const content = [text, ...files] as Extract<Task, { type: "MultiModalMessage" }>["content"];
  return { type: "MultiModalMessage", source: "user", content };
}
