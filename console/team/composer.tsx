import { type ClipboardEvent, type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import { attachmentOf, type HumanRequest, type Task, type TeamClient } from "troupe/client";
import type { TeamView } from "troupe/react";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSequence } from "../hooks/use-sequence.ts";
import { isQuestion } from "../requests/prompt.ts";
import { visibleName } from "../text/foreign.ts";
import { type Attachment, Attachments } from "./attachments.tsx";
import { Queue } from "./queue.tsx";
import { useDraft } from "./use-draft.ts";

interface ComposerProps {
  team: TeamView;
  handle: TeamClient;
}

/** The field for messages to the team: a task, or the answer to its question. */
export function Composer({ team, handle }: ComposerProps) {
  const [text, setText] = useDraft(handle.id);
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const file = useRef<HTMLInputElement>(null);
  const task = useSequence();
  const { status } = team;
  const question = team.requests.find(isQuestion);
  const busy = question === undefined && ["running", "waiting", "paused"].includes(status);
  const empty = text.trim() === "" && files.length === 0;

  const attach = (chosen: Iterable<File>): void => {
    const given = [...chosen];
    void task.run(async () => {
      const added = await Promise.all(given.map((one) => attachmentOf(one)));
      setFiles((all) => [...all, ...added]);
    });
  };
  const submit = (onConflict: WhileBusy): void => {
    if (empty) return;
    // Text that is typed while this message is being sent belongs to the next one.
    setText("");
    setFiles([]);
    void task.run(async () => {
      try {
        await say(
          team,
          question,
          contentOf(text, files),
          busy || task.busy ? onConflict : "reject",
        );
      } catch (error) {
        setText((typed) => (typed.trim() === "" ? text : `${text}\n${typed}`));
        setFiles((added) => [...files, ...added]);
        throw error;
      }
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit("queue");
  };
  const onPaste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    attach(event.clipboardData.files);
  };
  const prompt = question
    ? `Answer ${visibleName(question.source)}`
    : busy
      ? "Message the running team"
      : "Give the team a task";

  return (
    <>
      <Queue
        handle={handle}
        queued={team.queued}
        onTakeBack={(back) =>
          setText((typed) => (typed.trim() === "" ? back : `${back}\n${typed}`))
        }
      />
      <form
        className="composer"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          submit("queue");
        }}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          attach(event.dataTransfer.files);
        }}
      >
        <Problem error={task.error} />
        <Attachments
          files={files}
          onRemove={(index) => setFiles(files.filter((_, position) => position !== index))}
        />
        <div className="composer-text" data-text={text}>
          <textarea
            rows={1}
            aria-label={prompt}
            placeholder={prompt}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKeyDown}
            onPaste={onPaste}
          />
        </div>
        <div className="composer-foot">
          <IconButton icon="file" name="Attach a file" onClick={() => file.current?.click()} />
          <input
            ref={file}
            type="file"
            hidden
            multiple
            onChange={(event) => {
              attach(event.target.files ?? []);
              event.target.value = "";
            }}
          />
          <span className="muted hint">
            Enter {busy ? "queues" : "sends"}, Shift+Enter adds a line
          </span>
          {busy && (
            <button
              className="button"
              type="button"
              title={
                files.length > 0
                  ? "Files can't be sent into a run"
                  : "The agents read it at their next step, and the run continues"
              }
              disabled={text.trim() === "" || files.length > 0}
              onClick={() => submit("steer")}
            >
              <Icon name="send" />
              Send into the run
            </button>
          )}
          {busy && (
            <button
              className="button"
              type="button"
              title="Cancel the current run, and send this message now"
              disabled={empty}
              onClick={() => submit("interrupt")}
            >
              <Icon name="stop" />
              Interrupt and send
            </button>
          )}
          <button className="button primary" disabled={empty} aria-busy={task.busy}>
            <Icon name="send" />
            {question ? "Answer" : busy ? "Queue" : "Send"}
          </button>
        </div>
      </form>
    </>
  );
}

/** The ways of a message while a run is active. */
type WhileBusy = "queue" | "interrupt" | "steer";

type Content = string | Extract<Task, { type: "MultiModalMessage" }>;

function contentOf(text: string, files: readonly Attachment[]): Content {
  if (files.length === 0) return text;
  const content = text.trim() === "" ? files : [text, ...files];
  return { type: "MultiModalMessage", source: "user", content };
}

async function say(
  team: TeamView,
  question: HumanRequest | undefined,
  content: Content,
  on_conflict: "reject" | WhileBusy,
): Promise<void> {
  if (question) await team.answer(question, { content });
  else if (on_conflict === "steer" && typeof content === "string") await team.steer(content);
  else await team.send(content, { on_conflict });
}
