import { memo, type ReactElement, StrictMode, useState } from "react";
import { TroupeClient } from "troupe/client";
import { TroupeProvider, useInbox, useTeam } from "troupe/react";
import type { AppOptions } from "../support/app-options.ts";

/** How often components were rendered. */
export const renderings = { chat: 0, message: 0 };

type View = ReturnType<typeof useTeam>;

/** The text of a message, whatever its type. */
function textOf(message: View["messages"][number]): string {
  const content = "content" in message ? message.content : "";
  return typeof content === "string" ? content : JSON.stringify(content);
}

const Messages = memo(({ messages }: Pick<View, "messages">) => (
  <ol>
    {messages.map((message) => (
      <Message key={message.id} message={message} />
    ))}
  </ol>
));

const Message = memo(({ message }: { message: View["messages"][number] }) => {
  renderings.message++;
  return (
    <li data-source={message.source} data-type={message.type}>
      {textOf(message)}
    </li>
  );
});

function Chat({ id, pageSize }: { id: string; pageSize: number | undefined }): ReactElement {
  renderings.chat++;
  const team = useTeam(id, { pageSize });
  const [task, setTask] = useState("");
  const [refusal, setRefusal] = useState("");
  const act = (action: Promise<unknown>): void => {
    action.catch((error: { code?: string; message: string }) =>
      setRefusal(error.code ?? error.message),
    );
  };
  return (
    <section data-team={id} data-status={team.status} data-connected={team.connected}>
      {team.hasEarlier && <button onClick={() => act(team.loadEarlier())}>Earlier</button>}
      <Messages messages={team.messages} />
      {team.texts.map(({ id: text, source, content }) => (
        <p key={text} data-writing={source}>
          {content}
        </p>
      ))}
      {team.requests.map((request) => (
        <fieldset key={request.id} data-request={request.source}>
          {request.prompt}
          <button onClick={() => act(team.answer(request, { content: "Yes." }))}>Yes</button>
        </fieldset>
      ))}
      {team.queued.map(({ id: queued }) => (
        <i key={queued} data-queued>
          {queued}
        </i>
      ))}
      {team.error && <output data-error>{team.error.code}</output>}
      {refusal && <output data-refusal>{refusal}</output>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          act(team.send(task));
          setTask("");
        }}
      >
        <input value={task} onChange={({ target }) => setTask(target.value)} />
        <button>Send</button>
      </form>
      <button onClick={() => act(team.send(task, { on_conflict: "queue" }))}>Queue</button>
      <button onClick={() => act(team.stop("now"))}>Stop</button>
      <button onClick={() => act(team.pause())}>Pause</button>
      <button onClick={() => act(team.resume())}>Resume</button>
      <button onClick={() => act(team.retry())}>Retry</button>
      <button onClick={() => team.reload()}>Reload</button>
    </section>
  );
}

function Inbox({ pageSize }: { pageSize: number | undefined }): ReactElement {
  const inbox = useInbox({ pageSize });
  return (
    <aside data-status={inbox.status} data-connected={inbox.connected}>
      {inbox.requests.map((request) => (
        <fieldset key={request.team_id + request.id} data-team={request.team_id}>
          <button onClick={() => void inbox.answer(request, { content: "Yes." })}>Yes</button>
        </fieldset>
      ))}
      {inbox.hasMore && <button onClick={() => inbox.loadMore()}>More</button>}
      {inbox.error && <output data-error>{inbox.error.code}</output>}
    </aside>
  );
}

/** Chats with teams, which a test changes through the element's function. */
export function App({ options }: { options: AppOptions }): ReactElement {
  const { baseURL, token, strict = false, inbox = false, pageSize } = options;
  const [client] = useState(() => new TroupeClient({ baseURL, token }));
  const [teams, setTeams] = useState(options.teams);
  const chats = (
    <TroupeProvider client={client}>
      <input
        name="teams"
        value={teams.join(" ")}
        onChange={({ target }) => setTeams(target.value.split(" ").filter((id) => id !== ""))}
      />
      {teams.map((id, place) => (
        <Chat key={place} id={id} pageSize={pageSize} />
      ))}
      {inbox && <Inbox pageSize={pageSize} />}
    </TroupeProvider>
  );
  return strict ? <StrictMode>{chats}</StrictMode> : chats;
}
