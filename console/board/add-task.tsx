import { type FormEvent, useState } from "react";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { Problem } from "../parts/problem.tsx";

interface AddTaskProps {
  onAdd: (title: string) => Promise<unknown>;
}

export function AddTask({ onAdd }: AddTaskProps) {
  const [title, setTitle] = useState("");
  const { run, busy, error } = useButtonAction();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (title.trim() === "") return;
    void run(async () => {
      await onAdd(title);
      setTitle("");
    });
  };
  return (
    <form className="board-add" onSubmit={submit}>
      <Problem error={error} />
      <input
        aria-label="New task"
        placeholder="Add a task"
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <button className="button small" disabled={title.trim() === ""} aria-busy={busy}>
        Add
      </button>
    </form>
  );
}
