import { memo, useEffect, useMemo } from "react";
import { ApiError, type FilePage, type Message, TroupeClient } from "troupe/client";
import { TroupeProvider } from "troupe/react";
import { MessageBody } from "../conversation/message-body.tsx";
import { ToolCalls } from "../conversation/tool-calls.tsx";
import { Failure } from "../parts/failure.tsx";
import { Fold } from "../parts/fold.tsx";
import { HeadingLevel } from "../parts/heading.tsx";
import { Avatar, Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { saveFile } from "../parts/save-file.ts";
import { Clock } from "../parts/time.tsx";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { Logo } from "../shell/logo.tsx";
import { ThemeSwitch } from "../shell/theme-switch.tsx";
import { CodeBlock } from "../text/code-block.tsx";
import { visibleName } from "../text/foreign.ts";
import { Markdown } from "../text/markdown.tsx";
import { printedJson } from "../text/printed-json.ts";
import type { SharedLink } from "./link.ts";
import { useShared } from "./use-shared.ts";

/** A conversation for everybody who has its link. */
export default function SharedPage({ team, token }: SharedLink) {
  const client = useMemo(() => new TroupeClient({ baseURL: location.origin, token }), [token]);
  const { conversation, files, error, reload, loadEarlier } = useShared(client, team);
  const label = conversation?.label ?? team;
  useEffect(() => {
    document.title = `${visibleName(label)} · Troupe`;
  }, [label]);
  if (conversation === undefined) {
    if (error === undefined) return <p className="starting" role="status" aria-label="Loading" />;
    const ended = error instanceof ApiError && (error.status === 401 || error.status === 404);
    return (
      <main className="centre">
        {ended ? (
          <>
            <h1>This link no longer works</h1>
            <p className="muted">It expired or was revoked. Ask for a new one.</p>
          </>
        ) : (
          <Failure error={error} onRetry={reload} />
        )}
      </main>
    );
  }
  return (
    <TroupeProvider client={client}>
      <div className="shared">
        <header className="shared-head">
          <Logo />
          <h1>
            <Name name={label} />
          </h1>
          <span className="muted">Read only</span>
          <ThemeSwitch />
        </header>
        <main id="main">
          {conversation.component !== null && (
            <Fold icon="people" title="Team settings" source="">
              <CodeBlock code={printedJson(conversation.component)} language="json" />
            </Fold>
          )}
          {files !== undefined && <Files client={client} team={team} files={files} />}
          {conversation.hasEarlier && (
            <button className="button" type="button" onClick={loadEarlier}>
              Show earlier messages
            </button>
          )}
          <HeadingLevel value={2}>
            {conversation.messages.map((message) => (
              <SharedMessage key={message.id} message={message} all={conversation.messages} />
            ))}
            {conversation.texts.map(({ id, source, content }) => (
              <article key={id} className="entry" aria-busy>
                <Avatar source={source} />
                <header>
                  <strong>
                    <Name name={source} />
                  </strong>
                </header>
                <div className="body">
                  <Markdown text={content} growing />
                </div>
              </article>
            ))}
          </HeadingLevel>
          {conversation.messages.length === 0 && conversation.texts.length === 0 && (
            <p className="muted none">No messages yet</p>
          )}
        </main>
      </div>
    </TroupeProvider>
  );
}

interface SharedMessageProps {
  message: Message;
  all: readonly Message[];
}

const SharedMessage = memo(function SharedMessage({ message, all }: SharedMessageProps) {
  // Results are shown with their calls.
  if (message.type === "ToolCallExecutionEvent") return null;
  const { source, created_at } = message;
  return (
    <article className="entry" data-user={source === "user"}>
      <Avatar source={source} />
      <header>
        <strong>
          <Name name={source} />
        </strong>
        <span className="muted">
          <Clock time={created_at} />
        </span>
      </header>
      <div className="body">
        {message.type === "ToolCallRequestEvent" ? (
          <Calls message={message} all={all} />
        ) : (
          <MessageBody message={message} inCard />
        )}
      </div>
    </article>
  );
});

interface CallsProps {
  message: Extract<Message, { type: "ToolCallRequestEvent" }>;
  all: readonly Message[];
}

function Calls({ message, all }: CallsProps) {
  const results = all.flatMap((one) => (one.type === "ToolCallExecutionEvent" ? one.content : []));
  const calls = message.content.map((call) => ({
    call,
    result: results.find(({ call_id }) => call_id === call.id),
  }));
  const hidden = calls.every(({ call, result }) => call.arguments === "{}" && !result?.content);
  if (!hidden) return <ToolCalls calls={calls} />;
  return (
    <p className="line">
      Called{" "}
      {message.content.map(({ id, name }) => (
        <code key={id}>
          <Name name={name} />{" "}
        </code>
      ))}
    </p>
  );
}

interface FilesProps {
  client: TroupeClient;
  team: string;
  files: FilePage["files"];
}

function Files({ client, team, files }: FilesProps) {
  const task = useButtonAction();
  const download = async (path: string): Promise<void> => {
    const content = await (await client.team(team).readFile(path)).blob();
    saveFile(path.slice(path.lastIndexOf("/") + 1), content);
  };
  return (
    <Fold icon="file" title={`${files.length} files`} source="">
      <Problem error={task.error} />
      <ul className="shared-files">
        {files.map(({ path }) => (
          <li key={path}>
            <button
              className="button small quiet"
              type="button"
              onClick={() => void task.run(() => download(path))}
            >
              {visibleName(path)}
            </button>
          </li>
        ))}
      </ul>
    </Fold>
  );
}
