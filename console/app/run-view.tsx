import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Message, RunInfo } from "troupe/client";
import { textOfTask } from "../answers/use-whole-task.ts";
import { CardRow } from "../conversation/card-row.tsx";
import { Cards } from "../conversation/entries.ts";
import { withPresent } from "../conversation/live.ts";
import { LiveLine } from "../conversation/live-line.tsx";
import { MessageBody } from "../conversation/message-body.tsx";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { Status } from "../parts/status.tsx";
import { Elapsed } from "../parts/time.tsx";
import { Access, type Scope } from "../shell/access.tsx";
import { visibleName } from "../text/foreign.ts";
import { Markdown } from "../text/markdown.tsx";
import { OpenRequests } from "./open-requests.tsx";
import type { RunState, ShownRun } from "./shown-run.ts";

interface RunViewProps {
  shown: ShownRun;
  /** The name of the tool, for people. */
  title: string | undefined;
  /** Gets what sends the answers that can still be undone. */
  onLeaving: (send: () => Promise<void>) => void;
}

/** The distance from the end within which it follows new messages. */
const END_PX = 80;

/** A run: its conversation, what happens now, and its open questions. */
export function RunView({ shown, title, onLeaving }: RunViewProps) {
  const state = useSyncExternalStore(shown.subscribe, shown.read);
  const { run, refused, error, mayAnswer } = state;
  const scopes: readonly Scope[] = mayAnswer ? ["requests:write"] : [];
  if (refused !== undefined) {
    return (
      <main className="run-view">
        <Markdown text={refused} />
      </main>
    );
  }
  if (run === undefined) {
    return (
      <main className="run-view">
        {error === undefined ? (
          <p className="muted" role="status">
            Waiting for the run
          </p>
        ) : (
          <Problem error={error} />
        )}
      </main>
    );
  }
  return (
    <Access whoami={{ scopes: [...scopes] }}>
      <main className="run-view">
        <RunHead run={run} title={title} mayStop={state.mayStop} onStop={() => shown.stop()} />
        <Said state={state} run={run} />
        {error !== undefined && <Problem error={error} />}
        <RunEnd run={run} />
        <OpenRequests
          requests={run.requests}
          task={textOfTask(run.task)}
          onAnswer={(request, answer) => shown.answer(request, answer)}
          onLeaving={onLeaving}
        />
      </main>
    </Access>
  );
}

interface RunHeadProps {
  run: RunInfo;
  title: string | undefined;
  mayStop: boolean;
  onStop: () => Promise<void>;
}

function RunHead({ run, title, mayStop, onStop }: RunHeadProps) {
  const [stopping, setStopping] = useState(false);
  const [failed, setFailed] = useState<Error>();
  const { status, started_at, ended_at, team_id } = run;
  const stop = (): void => {
    setStopping(true);
    setFailed(undefined);
    onStop().catch((error: unknown) => {
      setFailed(error as Error);
      setStopping(false);
    });
  };
  return (
    <header className="run-head">
      <h1>
        <Name name={title ?? team_id} />
      </h1>
      <Status status={status} />
      {started_at !== null && (
        <span className="muted">
          <Elapsed from={started_at} to={ended_at} />
        </span>
      )}
      {mayStop && ended_at === null && (
        <button className="button small" type="button" disabled={stopping} onClick={stop}>
          <Icon name="stop" />
          {stopping ? "Stopping" : "Stop"}
        </button>
      )}
      <Problem error={failed} />
    </header>
  );
}

/** The messages, with the texts in progress and the steps under way. */
function Said({ state, run }: { state: RunState; run: RunInfo }) {
  const { texts, activity } = state;
  const [keys] = useState(() => new Map<string, string>());
  const messages = useMemo(() => withTask(run, state.messages), [run, state.messages]);
  const cards = useMemo(() => new Cards(messages, { keys }), [messages, keys]);
  const { entries, lines } = withPresent(cards.entries, cards, {
    texts,
    activity,
    run,
    manager: undefined,
  });
  const ahead = useMemo(
    () => (activity === null ? 0 : Date.parse(activity.at) - Date.now()),
    [activity],
  );
  const list = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (atEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight });
  });
  const teamLine = lines.get("");
  return (
    <>
      <div
        ref={list}
        className="run-said"
        role="log"
        aria-label="Conversation"
        aria-live="off"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < END_PX;
        }}
      >
        {entries.map((entry) =>
          entry.kind === "card" ? (
            <CardRow
              key={entry.key}
              card={entry}
              doing={lines.get(entry.key)}
              ahead={ahead}
              soon={undefined}
            />
          ) : (
            entry.kind === "event" && (
              <div key={entry.key} className="entry event">
                <MessageBody message={entry.message} />
              </div>
            )
          ),
        )}
      </div>
      {teamLine !== undefined && (
        <div className="team-line">
          <LiveLine doing={teamLine} ahead={ahead} soon={undefined} />
        </div>
      )}
    </>
  );
}

/** Adds the messages of the task in front: a stream contains them only if its run repeats them. */
function withTask({ task }: RunInfo, messages: readonly Message[]): readonly Message[] {
  if (!Array.isArray(task)) return messages;
  const known = new Set(messages.map(({ id }) => id));
  const given = (task as unknown as Message[]).filter(({ id }) => !known.has(id));
  return [...given, ...messages];
}

function RunEnd({ run: { status, error } }: { run: RunInfo }) {
  if (status !== "failed" && status !== "cancelled") return null;
  return (
    <div className="run-end" role="note" data-status={status}>
      <Icon name={status === "failed" ? "warning" : "stop"} />
      <div className="run-end-words">
        <p>{status === "failed" ? "The run failed." : "The run was cancelled."}</p>
        {error !== null && <p className="failed-because">{visibleName(error.message)}</p>}
      </div>
    </div>
  );
}
