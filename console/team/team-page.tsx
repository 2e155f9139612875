import { lazy, Suspense, useCallback, useEffect, useMemo } from "react";
import { useTeam, useTroupe } from "troupe/react";
import { Link, useSearchParams } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { promptOf } from "../requests/prompt.ts";
import { RequestForm } from "../requests/request-form.tsx";
import { useSteady } from "../requests/use-steady.ts";
import { Composer } from "./composer.tsx";
import { PAGE_SIZE } from "../conversation/page-size.ts";
import { Conversation } from "../conversation/conversation.tsx";
import { printersOf } from "../conversation/participants.ts";
import { useEndedRuns } from "../conversation/use-ended-runs.ts";
import { EmptyConversation } from "./empty-conversation.tsx";
import { RunBar } from "./run-bar.tsx";
import { TeamMenu } from "./team-menu.tsx";
import { TeamSide } from "./team-side.tsx";

const TeamPicture = lazy(async () => {
  const { TeamPicture: component } = await import("../picture/team-picture.tsx");
  return { default: component };
});

export function TeamPage({ id }: { id: string }) {
  const client = useTroupe();
  const team = useTeam(id, { pageSize: PAGE_SIZE });
  const handle = useMemo(() => client.team(id), [client, id]);
  const [search, setSearch] = useSearchParams();
  const view = search.get("view") === "picture" ? "picture" : "conversation";
  const { status, run, requests, messages, texts } = team;
  const turns = run?.turns;
  const { value: info, reload } = useLoaded(useCallback(() => handle.get(), [handle]));
  useEffect(() => {
    if (status !== "connecting") reload();
  }, [status, turns, reload]);

  const steady = useSteady<HTMLDivElement>("list");
  const ended = useEndedRuns(handle, team);

  if (status === "unavailable" && team.error) {
    return <Failure error={team.error} onRetry={team.reload} />;
  }
  const printers = printersOf(info?.component);
  // An input is answered where tasks are given.
  const forms = requests.filter(({ kind }) => kind !== "input");
  const empty = messages.length === 0 && texts.length === 0;
  return (
    <div className="team" data-view={view}>
      <header className="team-head">
        <Link className="button quiet icon-only" href="/" aria-label="All teams">
          <Icon name="back" />
        </Link>
        <h1>
          <Name name={info?.label ?? id} />
        </h1>
        <div className="segments view-switch" role="group" aria-label="View">
          <button
            type="button"
            aria-pressed={view === "conversation"}
            onClick={() => setSearch({}, { replace: true })}
          >
            Conversation
          </button>
          <button
            type="button"
            aria-pressed={view === "picture"}
            onClick={() => setSearch({ view: "picture" }, { replace: true })}
          >
            Picture
          </button>
        </div>
        <RunBar team={team} />
        <TeamMenu team={handle} origin={info?.forked_from?.team_id} onReset={team.reload} />
      </header>
      <div className="team-main">
        {status === "connecting" ? (
          <p className="loading" role="status">
            Loading
          </p>
        ) : empty ? (
          <EmptyConversation team={team} info={info} />
        ) : (
          <Conversation team={team} teamId={id} ended={ended} printers={printers} />
        )}
        <div className="dock">
          <div className="dock-forms" {...steady}>
            {forms.map((request) => (
              <RequestForm
                key={request.id}
                request={request}
                onAnswer={(answer) => team.answer(request, answer)}
              />
            ))}
          </div>
          <Question team={team} />
          <Composer team={team} />
        </div>
      </div>
      {info && view === "conversation" && <TeamSide info={info} team={team} />}
      {info && view === "picture" && (
        <Suspense
          fallback={
            <p className="loading" role="status">
              Loading
            </p>
          }
        >
          <TeamPicture info={info} team={team} handle={handle} />
        </Suspense>
      )}
    </div>
  );
}

function Question({ team }: { team: ReturnType<typeof useTeam> }) {
  const question = team.requests.find(({ kind }) => kind === "input");
  if (question === undefined) return null;
  const prompt = promptOf(question);
  return (
    <p className="question">
      <strong>
        <Name name={question.source} />
      </strong>{" "}
      {prompt === "" ? "waits for your answer." : `asks: ${prompt}`}
    </p>
  );
}
