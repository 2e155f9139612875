"use client";
import { useTeam } from "troupe/react";
import { Conversation } from "../../shared/conversation.tsx";

/** A conversation with its open calls and two buttons for each. */
export function Approval({ team: id }: { team: string }) {
  const team = useTeam(id);
  return (
    <section>
      <Conversation messages={team.messages} />
      {team.requests.map((request) => (
        <div key={request.id}>
          <pre>{JSON.stringify(request.tool_call?.arguments, null, 2)}</pre>
          <button onClick={() => team.answer(request, { approved: true })}>Approve</button>{" "}
          <button onClick={() => team.answer(request, { approved: false, reason: "Not covered." })}>
            Refuse
          </button>
        </div>
      ))}
    </section>
  );
}
