import { type ClipboardEvent, type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import type { HumanRequest, Task } from "troupe/client";
import type { TeamView } from "troupe/react";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSequence } from "../hooks/use-sequence.ts";
import { visibleName } from "../text/foreign.ts";
import { type Attachment, attachmentOf, Attachments, IMAGE_TYPES } from "./attachments.tsx";

interface ComposerProps {
  team: TeamView;
}

/** What is said to the team: a task, or the answer to its question. */
export function Composer({ team }: ComposerProps) {
  const [text, setText] = useState("");
  const [images, setImages] = useState<readonly Attachment[]>([]);
  const [conflict, setConflict] = useState<"queue" | "interrupt">("queue");
  const file = useRef<HTMLInputElement>(null);
  const task = useSequence();
  const { status } = team;
  const question = team.requests.find(({ kind }) => kind === "input");
  const busy = question === undefined && ["running", "waiting", "paused"].includes(status);
  const empty = text.trim() === "" && images.length === 0;

  const attach = (files: Iterable<File>): void => {
    const pictures = [...files].filter(({ type }) => IMAGE_TYPES.includes(type));
    void task.run(async () => {
      const added = await Promise.all(pictures.map(attachmentOf));
      setImages((all) => [...all, ...added]);
    });
  };
  const submit = (): void => {
    if (empty) return;
    // Text typed while this message is on its way belongs to the next one.
    setText("");
    setImages([]);
    const onConflict = busy || task.busy ? conflict : "reject";
    void task.run(async () => {
      try {
        await say(team, question, contentOf(text, images), onConflict);
      } catch (error) {
        setText((typed) => (typed.trim() === "" ? text : `${text}\n${typed}`));
        setImages((added) => [...images, ...added]);
        throw error;
      }
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  const onPaste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    attach(event.clipboardData.files);
  };
  const prompt = question
    ? `Answer ${visibleName(question.source)}`
    : busy
      ? "Say something in between"
      : "Give the team a task";

  return (
    <form
      className="composer"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        attach(event.dataTransfer.files);
      }}
    >
      <Problem error={task.error} />
      <Attachments
        images={images}
        onRemove={(index) => setImages(images.filter((_, place) => place !== index))}
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
        <IconButton icon="image" name="Attach an image" onClick={() => file.current?.click()} />
        <input
          ref={file}
          type="file"
          hidden
          multiple
          accept={IMAGE_TYPES.join(",")}
          onChange={(event) => {
            attach(event.target.files ?? []);
            event.target.value = "";
          }}
        />
        <span className="muted hint">Enter sends, Shift+Enter starts a line</span>
        {busy && (
          <select
            aria-label="What happens to the current run"
            value={conflict}
            onChange={(event) => setConflict(event.target.value as typeof conflict)}
          >
            <option value="queue">Queue behind the run</option>
            <option value="interrupt">Interrupt the run</option>
          </select>
        )}
        <button className="button primary" disabled={empty} aria-busy={task.busy}>
          <Icon name="send" />
          {question ? "Answer" : busy && conflict === "queue" ? "Queue" : "Send"}
        </button>
      </div>
    </form>
  );
}

type Content = string | Extract<Task, { type: "MultiModalMessage" }>;

function contentOf(text: string, images: readonly Attachment[]): Content {
  if (images.length === 0) return text;
  const parts = images.map(({ data }) => ({ data }));
  const content = text.trim() === "" ? parts : [text, ...parts];
  return { type: "MultiModalMessage", source: "user", content };
}

async function say(
  team: TeamView,
  question: HumanRequest | undefined,
  content: Content,
  on_conflict: "reject" | "queue" | "interrupt",
): Promise<void> {
  if (question) await team.answer(question, { content });
  else await team.send(content, { on_conflict });
}
