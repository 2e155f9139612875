import { type FormEvent, useCallback, useEffect, useMemo, useState } from "react";
import type { NotedTeam, TeamClient, ThreadMessage } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Link, useLocation, useSearchParams } from "wouter";
import { Confirm } from "../dialogs/confirm.tsx";
import type { ComponentData, CatalogueTeam } from "../component/catalogue.ts";
import type { ServerParts } from "../component/use-server-parts.ts";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";
import { type PlaygroundDraft, readDraft, writeDraft } from "./kept-draft.ts";
import { VariantColumn } from "./variant-column.tsx";
import {
  differingAgent,
  FEWEST,
  letterOf,
  MOST,
  runVariant,
  type Start,
  turnOf,
  type Variant,
  variedIn,
} from "./variants.ts";

const STARTS: Readonly<Record<Start, string>> = {
  last: "Before the last task",
  now: "The whole conversation",
  empty: "No conversation",
};

/** The team, its last task and the forks, as the page loaded them. */
export interface PlaygroundStart {
  handle: TeamClient;
  info: NotedTeam;
  server: ServerParts;
  /** An earlier version of the team, which becomes the second variant. */
  version: ComponentData | undefined;
  /** The last task of the conversation. */
  last: ThreadMessage | undefined;
  /** The forks that the address names, with their components and their task. */
  forks: readonly { id: string; component: ComponentData }[];
  /** The task that they were given. */
  task: string | undefined;
}

/** Sets variants up, runs them, and shows their answers beside each other. */
export function Playground({ start }: { start: PlaygroundStart }) {
  const { handle, info, server, last } = start;
  const client = useTroupe();
  const [, navigate] = useLocation();
  const [, setSearch] = useSearchParams();
  const { tell, attempt } = useNotices();
  const stored = info.component;
  const varied = useMemo(() => variedIn(stored), [stored]);
  const { component_version: version } = info;
  const [draft] = useState(() => draftOf(start));
  const [variants, setVariants] = useState<readonly Variant[]>(() =>
    draft === undefined
      ? beginning(start, stored)
      : draft.variants.map((variant) => ({ ...variant, error: undefined })),
  );
  const [agent, setAgent] = useState(
    () =>
      draft?.agent ??
      differingAgent(varied, [
        stored,
        ...(start.version === undefined ? [] : [start.version]),
        ...start.forks.map(({ component }) => component),
      ]),
  );
  const [task, setTask] = useState(
    draft?.task ?? start.task ?? (last?.type === "TextMessage" ? last.content : ""),
  );
  const [from, setFrom] = useState<Start>(draft?.from ?? (last === undefined ? "now" : "last"));
  const [compared, setCompared] = useState(0);
  const [answers, setAnswers] = useState<Readonly<Record<string, string | undefined>>>({});
  const [keeping, setKeeping] = useState<number>();
  const running = useButtonAction();
  const subject = varied[agent] ?? varied[0];
  const forks = variants.flatMap(({ fork }) => fork ?? []);
  const baseline = variants[compared]?.fork;

  useEffect(() => {
    const kept = variants.map(({ component, fork }) => ({ component, fork }));
    writeDraft(info.id, { version, variants: kept, agent, task, from });
  }, [info.id, version, variants, agent, task, from]);

  const show = (ids: readonly string[]): void =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        next.delete("version");
        if (ids.length === 0) next.delete("forks");
        else next.set("forks", ids.join(","));
        return next;
      },
      { replace: true },
    );
  const update = (index: number, change: Partial<Variant>): void =>
    setVariants((all) =>
      all.map((variant, at) => (at === index ? { ...variant, ...change } : variant)),
    );
  /** Deletes the forks once the page does not follow them any more. */
  const removeForks = async (): Promise<void> => {
    setVariants((all) => all.map((one) => ({ ...one, fork: undefined, error: undefined })));
    setAnswers({});
    show([]);
    await Promise.all(forks.map((id) => client.team(id).delete()));
  };
  const run = async (): Promise<void> => {
    await removeForks();
    const turn = turnOf(from, last, info.turn);
    const started = await Promise.all(
      variants.map(async ({ component }, index) => {
        try {
          const fork = await runVariant(handle, component, turn, task);
          update(index, { fork });
          return fork;
        } catch (error) {
          update(index, { error: error as Error });
          return [];
        }
      }),
    );
    show(started.flat());
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void running.run(run);
  };
  const clear = (): void => {
    void attempt(async () => {
      await removeForks();
      tell("The forks were deleted.");
    });
  };
  const keep = async (index: number): Promise<void> => {
    const { component } = variants[index] ?? { component: stored };
    await handle.replaceComponent(component as CatalogueTeam, { version });
    await removeForks();
    navigate(`/teams/${info.id}?view=picture`);
    tell(`The team now has the settings of variant ${letterOf(index)}.`);
  };
  const onAnswer = useCallback(
    (fork: string, answer: string | undefined) =>
      setAnswers((all) => (all[fork] === answer ? all : { ...all, [fork]: answer })),
    [],
  );

  return (
    <div className="page playground-page">
      <header className="page-head">
        <Link
          className="button quiet icon-only"
          href={`/teams/${info.id}`}
          aria-label="Back to team"
        >
          <Icon name="back" />
        </Link>
        <h1>
          Playground: <Name name={info.label ?? info.id} />
        </h1>
      </header>
      <form className="playground-task" onSubmit={submit}>
        <label className="field">
          <span>Task for all variants</span>
          <textarea
            rows={3}
            required
            value={task}
            onChange={({ target }) => setTask(target.value)}
          />
        </label>
        <div className="playground-choices">
          <label className="field">
            <span>Vary</span>
            <select value={agent} onChange={({ target }) => setAgent(Number(target.value))}>
              {varied.map(({ name, path }, index) => (
                <option key={path.join(" ")} value={index}>
                  {visibleName(name)}
                </option>
              ))}
            </select>
          </label>
          <label className="field">
            <span>Forks start from</span>
            <select value={from} onChange={({ target }) => setFrom(target.value as Start)}>
              {(Object.keys(STARTS) as Start[]).map((one) => (
                <option key={one} value={one} disabled={one === "last" && last === undefined}>
                  {STARTS[one]}
                </option>
              ))}
            </select>
          </label>
          {forks.length > 1 && (
            <label className="field">
              <span>Mark differences from</span>
              <select value={compared} onChange={({ target }) => setCompared(Number(target.value))}>
                <option value={-1}>Nothing</option>
                {variants.map(({ fork }, index) => (
                  <option key={index} value={index} disabled={fork === undefined}>
                    Variant {letterOf(index)}
                  </option>
                ))}
              </select>
            </label>
          )}
          <div className="buttons">
            <button
              className="button"
              type="button"
              disabled={variants.length >= MOST}
              onClick={() =>
                setVariants((all) => [
                  ...all,
                  { component: all.at(-1)?.component ?? stored, fork: undefined, error: undefined },
                ])
              }
            >
              <Icon name="plus" />
              Add a variant
            </button>
            {forks.length > 0 && (
              <button className="button" type="button" disabled={running.busy} onClick={clear}>
                Delete forks
              </button>
            )}
            <button
              className="button primary"
              disabled={running.busy || task.trim() === ""}
              aria-busy={running.busy}
            >
              {forks.length > 0 ? "Run all again" : `Run ${variants.length} variants`}
            </button>
          </div>
        </div>
        <p className="muted">
          Each variant runs in a fork of its own. The team stays unchanged until you keep one.
        </p>
        <Problem error={running.error} />
      </form>
      <div className="variants" data-count={variants.length}>
        {variants.map((variant, index) => (
          <VariantColumn
            key={index}
            letter={letterOf(index)}
            variant={variant}
            subject={subject}
            catalogue={server.catalogue}
            isSame={JSON.stringify(variant.component) === JSON.stringify(stored)}
            compared={
              baseline !== undefined && baseline !== variant.fork ? answers[baseline] : undefined
            }
            onAnswer={onAnswer}
            onChange={(component) => update(index, { component })}
            onKeep={() => setKeeping(index)}
            onRemove={
              variants.length <= FEWEST
                ? undefined
                : () => {
                    const { fork } = variant;
                    setVariants((all) => all.filter((_, at) => at !== index));
                    setCompared(0);
                    show(forks.filter((id) => id !== fork));
                    if (fork !== undefined) void attempt(() => client.team(fork).delete());
                  }
            }
          />
        ))}
      </div>
      {keeping !== undefined && (
        <Confirm
          title={`Keep variant ${letterOf(keeping)}?`}
          text="The team gets the settings of this variant. It keeps its conversation. All forks of this page are deleted; open the fork instead if you want to keep its answer."
          button="Keep variant"
          action={() => keep(keeping)}
          onClose={() => setKeeping(undefined)}
        />
      )}
    </div>
  );
}

/** The draft of this tab, if it has all forks that the address names. Deleted forks are left out. */
function draftOf({ info, forks, version }: PlaygroundStart): PlaygroundDraft | undefined {
  if (version !== undefined) return undefined;
  const draft = readDraft(info.id, info.component_version);
  if (draft === undefined) return undefined;
  const known = new Set(draft.variants.map(({ fork }) => fork));
  if (!forks.every(({ id }) => known.has(id))) return undefined;
  const variants = draft.variants.map(({ component, fork }) => ({
    component,
    fork: forks.some(({ id }) => id === fork) ? fork : undefined,
  }));
  return { ...draft, variants };
}

/** The variants of the forks that the address names, and at least two. */
function beginning({ forks, version }: PlaygroundStart, stored: ComponentData): Variant[] {
  const knownIds = forks.map(({ id, component }) => ({ component, fork: id, error: undefined }));
  const fresh = Array.from({ length: Math.max(0, FEWEST - knownIds.length) }, (_, index) => ({
    component: (index === 1 ? version : undefined) ?? stored,
    fork: undefined,
    error: undefined,
  }));
  return [...knownIds, ...fresh];
}
