import { useState } from "react";
import type { Message } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLocation } from "wouter";
import { IconButton } from "../parts/icon-button.tsx";
import { comparison } from "../compare/address.ts";
import { useNotices } from "../shell/notices.tsx";
import { EditAndFork } from "./edit-and-fork.tsx";
import { forkAfter } from "./fork.ts";
import { useMay } from "../shell/access.tsx";

interface MessageActionsProps {
  message: Message;
  teamId: string;
}

/** The actions of a message. They appear on hover and focus. */
export function MessageActions({ message, teamId }: MessageActionsProps) {
  const client = useTroupe();
  const [, navigate] = useLocation();
  const { attempt, tell } = useNotices();
  const [editing, setEditing] = useState(false);
  const mayFork = useMay("teams:write");
  const mayRun = useMay("runs:write");
  const fork = (): void => {
    void attempt(async () => {
      const { id } = await forkAfter(client.team(teamId), message);
      navigate(`/teams/${id}`);
      tell("This is a fork. The original is unchanged.", {
        href: comparison(teamId, id),
        name: "Compare",
      });
    });
  };
  const copy = (): void => {
    void attempt(() => navigator.clipboard.writeText(textOf(message)));
  };
  return (
    <span className="actions">
      <IconButton icon="copy" name="Copy" onClick={copy} />
      {mayFork && mayRun && message.source === "user" && message.type === "TextMessage" && (
        <IconButton icon="edit" name="Edit in a fork" onClick={() => setEditing(true)} />
      )}
      {mayFork && <IconButton icon="fork" name="Fork from here" onClick={fork} />}
      {editing && (
        <EditAndFork
          team={client.team(teamId)}
          message={message}
          text={textOf(message)}
          onClose={() => setEditing(false)}
        />
      )}
    </span>
  );
}

function textOf({ content }: Message & { content?: unknown }): string {
  return typeof content === "string" ? content : JSON.stringify(content, null, 2);
}
