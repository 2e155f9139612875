"use client";
import { useTeam } from "troupe/react";
import { Conversation } from "../shared/conversation.tsx";

/** The conversation, as it is written. */
export function Refund({ team: id }: { team: string }) {
  const team = useTeam(id);
  return (
    <>
      <h1>Your refund</h1>
      <Conversation messages={team.messages} />
      {team.texts.map(({ id: key, source, content }) => (
        <p key={key}>
          <b>{source}:</b> <i>{content}</i>
        </p>
      ))}
      {team.requests.length > 0 && <p role="status">A colleague looks at it.</p>}
      {team.error && <p role="alert">{team.error.message}</p>}
    </>
  );
}
