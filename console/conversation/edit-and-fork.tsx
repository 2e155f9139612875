import { useState } from "react";
import type { Message, TeamClient } from "troupe/client";
import { useLocation } from "wouter";
import { FormDialog } from "../dialogs/form-dialog.tsx";
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
  const submit = async (): Promise<void> => {
    const { id } = await forkWith(team, message, text);
    navigate(`/teams/${id}`);
    tell("This is a fork with your text.", {
      href: comparison(team.id, id),
      name: "Compare with the original",
    });
  };
  return (
    <FormDialog title="Edit in a fork" button="Fork and run" onSubmit={submit} onClose={onClose}>
      <label className="field">
        <span>The fork continues from this text. This conversation stays unchanged.</span>
        <textarea
          rows={6}
          data-focus
          required
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
    </FormDialog>
  );
}
