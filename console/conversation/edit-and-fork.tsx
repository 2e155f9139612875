import { type FormEvent, useState } from "react";
import type { Message, TeamClient } from "troupe/client";
import { useLocation } from "wouter";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { useTask } from "../hooks/use-task.ts";
import { comparison } from "../compare/address.ts";
import { useNotices } from "../shell/notices.tsx";
import { forkWith } from "./fork.ts";

interface EditAndForkProps {
  team: TeamClient;
  message: Message;
  text: string;
  onClose: () => void;
}

export function EditAndFork({ team, message, text: before, onClose }: EditAndForkProps) {
  const [, navigate] = useLocation();
  const [text, setText] = useState(before);
  const { tell } = useNotices();
  const task = useTask();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      const { id } = await forkWith(team, message, text);
      navigate(`/teams/${id}`);
      tell("This is a fork with your text.", {
        href: comparison(team.id, id),
        name: "Compare with the original",
      });
    });
  };
  return (
    <Dialog title="Edit in a fork" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>The fork goes on from this text. The conversation here is unchanged.</span>
          <textarea
            rows={6}
            data-focus
            required
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <Problem error={task.error} />
        <div className="buttons">
          <button className="button primary" disabled={task.busy} aria-busy={task.busy}>
            Fork and run
          </button>
        </div>
      </form>
    </Dialog>
  );
}
