import { lazy, Suspense, useCallback, useMemo, useState } from "react";
import type { TeamView } from "troupe/react";
import { useSearchParams } from "wouter";
import { hasBoard } from "../board/has-board.ts";
import { useNarrow } from "../hooks/use-narrow.ts";
import { type Artefact, BesideContext } from "../parts/beside.ts";
import { Failure } from "../parts/failure.tsx";
import { Fold } from "../parts/fold.tsx";
import { Name } from "../parts/name.tsx";
import { useFinding } from "../reading/use-finding.ts";
import { isQuestion, promptOf } from "../requests/prompt.ts";
import { Announcer } from "./announcer.tsx";
import { Composer } from "./composer.tsx";
import { Conversation } from "../conversation/conversation.tsx";
import { managerOf, printersOf } from "../conversation/participants.ts";
import { useEndedRuns } from "../conversation/use-ended-runs.ts";
import { useTurns } from "../conversation/use-turns.ts";
import { EmptyConversation } from "./empty-conversation.tsx";
import { useFramedTeam } from "./framed-team.ts";
import { TeamSide } from "./team-side.tsx";
import { useMay } from "../shell/access.tsx";

const RequestDock = lazy(async () => {
  const { RequestDock: component } = await import("../requests/request-dock.tsx");
  return { default: component };
});
const TeamPicture = lazy(async () => {
  const { TeamPicture: component } = await import("../picture/team-picture.tsx");
  return { default: component };
});

const Board = lazy(() => import("../board/board.tsx"));
const FindBar = lazy(() => import("../reading/find-bar.tsx"));

const FilePanel = lazy(async () => {
  const { FilePanel: component } = await import("../files/file-panel.tsx");
  return { default: component };
});
const ArtefactPanel = lazy(async () => {
  const { ArtefactPanel: component } = await import("../files/file-panel.tsx");
  return { default: component };
});

/** The conversation of a team, alone or beside its picture. */
export function TeamPage() {
  const { teamId: id, team, handle, info, reloadInfo } = useFramedTeam();
  const [search, setSearch] = useSearchParams();
  const view = search.get("view") === "picture" ? "picture" : "conversation";
  const { status, run, requests, messages, texts } = team;
  /** The file beside the conversation, or a part of a message. */
  const opened = search.get("open");
  const [artefact, setArtefact] = useState<Artefact>();
  const close = useCallback((): void => {
    setArtefact(undefined);
    setSearch((last) => {
      const next = new URLSearchParams(last);
      next.delete("open");
      return next;
    });
  }, [setSearch]);
  const beside = useCallback(
    (wanted: Artefact): void => {
      close();
      setArtefact(wanted);
    },
    [close],
  );
  const mayRun = useMay("runs:write");
  const mayAnswer = useMay("requests:write");
  const ended = useEndedRuns(handle, team);
  const finished = useTurns(handle, team);
  const { finding, close: stopFinding } = useFinding(messages.length > 0);
  const isNarrow = useNarrow("side");
  const withBoard = useMemo(() => hasBoard(info?.component), [info?.component]);
  const printers = useMemo(() => printersOf(info?.component), [info?.component]);

  if (status === "unavailable" && team.error) {
    return <Failure error={team.error} onRetry={team.reload} />;
  }
  // Questions are answered in the field for tasks.
  const forms = requests.filter((request) => !isQuestion(request));
  const empty = messages.length === 0 && texts.length === 0 && run?.status !== "running";
  return (
    <div className="team" data-view={view} data-open={opened !== null || artefact !== undefined}>
      <Announcer messages={messages} status={status} />
      <div className="team-main">
        {finding && (
          <Suspense>
            <FindBar team={handle} onClose={stopFinding} />
          </Suspense>
        )}
        {status === "connecting" ? (
          <p className="loading" role="status">
            Loading
          </p>
        ) : empty ? (
          <EmptyConversation team={team} info={info} />
        ) : (
          <BesideContext value={view === "conversation" ? beside : undefined}>
            <Conversation
              team={team}
              teamId={id}
              turns={finished}
              ended={ended}
              printers={printers}
              manager={managerOf(info?.component)}
            />
          </BesideContext>
        )}
        {withBoard && isNarrow && (
          <Fold icon="inbox" title="Tasks">
            <div className="board-narrow">
              <Suspense>
                <Board handle={handle} team={team} />
              </Suspense>
            </div>
          </Fold>
        )}
        <div className="dock">
          <Suspense>
            <RequestDock teamId={id} run={run} requests={forms} onAnswer={team.answer} />
          </Suspense>
          <Question team={team} />
          {(mayRun || (mayAnswer && requests.some(isQuestion))) && (
            <Composer team={team} handle={handle} />
          )}
        </div>
      </div>
      {view === "conversation" && (opened !== null || artefact !== undefined) && (
        <Suspense fallback={<aside className="file-panel" aria-label="Loading" />}>
          {opened !== null ? (
            <FilePanel team={handle} path={opened} onClose={close} />
          ) : (
            artefact && <ArtefactPanel artefact={artefact} onClose={close} />
          )}
        </Suspense>
      )}
      {info && opened === null && artefact === undefined && view === "conversation" && (
        <TeamSide info={info} team={team}>
          {withBoard && !isNarrow && (
            <>
              <h2>Tasks</h2>
              <Suspense>
                <Board handle={handle} team={team} />
              </Suspense>
            </>
          )}
        </TeamSide>
      )}
      {info && view === "picture" && (
        <Suspense
          fallback={
            <p className="loading" role="status">
              Loading
            </p>
          }
        >
          <TeamPicture info={info} team={team} handle={handle} onChanged={reloadInfo} />
        </Suspense>
      )}
    </div>
  );
}

function Question({ team }: { team: TeamView }) {
  const question = team.requests.find(isQuestion);
  if (question === undefined) return null;
  const prompt = promptOf(question);
  return (
    <p className="question">
      <strong>
        <Name name={question.source} />
      </strong>{" "}
      {prompt === "" ? "is waiting for your answer." : `asks: ${prompt}`}
    </p>
  );
}
