import { useCallback, useState } from "react";
import { useTroupe } from "troupe/react";
import { useSearchParams } from "wouter";
import { useServerParts } from "../component/use-server-parts.ts";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Failure } from "../parts/failure.tsx";
import { fieldsOf, listOf, textOf } from "../picture/component-json.ts";
import { useTitle } from "../shell/title.ts";
import { visibleName } from "../text/foreign.ts";
import { Playground } from "./playground.tsx";
import { MOST, variedIn } from "./variants.ts";

/** The number of last messages that are searched for the last task. */
const LATEST = 200;

/** One task, tried in variants of a team. */
export function PlaygroundPage({ teamId }: { teamId: string }) {
  useTitle("Playground");
  const client = useTroupe();
  const [parameters] = useSearchParams();
  // Read once: after that, the page changes the address.
  const [named] = useState(() => parameters.get("forks") ?? "");
  const [version] = useState(() => Number(parameters.get("version") ?? 0));
  const { value: server, error: unknown, reload: again } = useServerParts();
  const load = useCallback(async () => {
    const handle = client.team(teamId);
    const ids = named === "" ? [] : named.split(",").slice(0, MOST);
    const [info, earlier, page, forks] = await Promise.all([
      handle.get(),
      version > 0 && named === "" ? handle.versions.get(version) : undefined,
      handle.messages({ before: Number.MAX_SAFE_INTEGER, limit: LATEST }),
      Promise.all(
        // Forks may have been deleted meanwhile.
        ids.map((id) =>
          client
            .team(id)
            .get()
            .catch(() => undefined),
        ),
      ),
    ]);
    const kept = forks.filter((fork) => fork !== undefined);
    const [run] = kept[0] === undefined ? [] : (await client.team(kept[0].id).runs()).runs;
    return {
      handle,
      info,
      version: earlier?.component,
      last: page.messages.findLast(
        ({ source, type }) => source === "user" && type === "TextMessage",
      ),
      forks: kept.map(({ id, component }) => ({
        id,
        component: component,
      })),
      task: textOf(fieldsOf(listOf(run?.task)[0])["content"]) || undefined,
    };
  }, [client, teamId, named, version]);
  const { value, error, reload } = useLoaded(load);
  const failure = error ?? unknown;
  if (value === undefined || server === undefined) {
    return failure ? (
      <Failure
        error={failure}
        onRetry={() => {
          again();
          reload();
        }}
      />
    ) : (
      <p className="loading" role="status">
        Loading
      </p>
    );
  }
  if (variedIn(value.info.component).length === 0) {
    return (
      <div className="empty">
        <h1>Playground</h1>
        <p className="muted">
          No agent of {visibleName(value.info.label ?? teamId)} has a system message or a model, so
          there is nothing to vary.
        </p>
      </div>
    );
  }
  return <Playground start={{ ...value, server }} />;
}
