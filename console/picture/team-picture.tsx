import { useMemo, useState } from "react";
import type { NotedTeam, TeamClient } from "troupe/client";
import type { TeamView } from "troupe/react";
import { Name } from "../parts/name.tsx";
import { visibleName } from "../text/foreign.ts";
import { activityIn } from "./activity.ts";
import type { Part } from "./component-json.ts";
import { Drawing } from "./drawing.tsx";
import { InWords } from "./in-words.tsx";
import { layoutOf } from "./layout.ts";
import { Ledgers } from "./ledgers.tsx";
import { NodeDetails } from "./node-details.tsx";
import { pictureOf, withEdges } from "./picture.ts";
import { progressOf } from "./progress.ts";
import { useRunMessages } from "./use-run-messages.ts";

const MOST_NODES = 250;
const MOST_EDGES = 1_000;

interface TeamPictureProps {
  info: NotedTeam;
  team: TeamView;
  handle: TeamClient;
}

interface Opened {
  name: string;
  part: Part;
}

/** The team as a graph, with what its last run has done in it. */
export function TeamPicture({ info, team, handle }: TeamPictureProps) {
  const [opened, setOpened] = useState<readonly Opened[]>([]);
  const [selected, setSelected] = useState<string>();
  const { messages, cut } = useRunMessages(team);
  // The team is loaded again after each turn, with the same component.
  const own = useMemo(() => info.component, [info.id, info.component_version]);
  const component = opened.at(-1)?.part ?? own;
  const named = useMemo(() => pictureOf(component), [component]);
  const progress = useMemo(() => progressOf(named, messages), [named, messages]);
  // The layout changes only when there is another way, not whenever one is taken.
  const ways = JSON.stringify(progress.unnamed);
  const picture = useMemo(
    () => withEdges(named, JSON.parse(ways) as [string, string][]),
    [named, ways],
  );
  const seen = useMemo(() => progressOf(picture, messages), [picture, messages]);
  const large = picture.nodes.length > MOST_NODES || picture.edges.length > MOST_EDGES;
  const layout = useMemo(() => (large ? undefined : layoutOf(picture)), [picture, large]);
  const activity = activityIn(picture, seen, { ...team, messages });
  const show = (all: readonly Opened[]): void => {
    setOpened(all);
    setSelected(undefined);
  };
  const node = picture.nodes.find(({ id }) => id === selected);

  if (layout === undefined) {
    return (
      <div className="picture-panel">
        <p className="picture-note muted">
          This team has {picture.nodes.length} participants and {picture.edges.length} ways between
          them. A picture shows at most {MOST_NODES} and {MOST_EDGES}.
        </p>
      </div>
    );
  }
  return (
    <section className="picture-panel" aria-label="Picture">
      {opened.length > 0 && (
        <nav className="picture-trail" aria-label="Teams around this one">
          <button className="button quiet small" type="button" onClick={() => show([])}>
            <Name name={info.label ?? info.id} />
          </button>
          {opened.map(({ name }, index) => (
            <span key={index}>
              {"/ "}
              <button
                className="button quiet small"
                type="button"
                aria-current={index === opened.length - 1}
                onClick={() => show(opened.slice(0, index + 1))}
              >
                <Name name={name} />
              </button>
            </span>
          ))}
        </nav>
      )}
      <Drawing
        picture={picture}
        layout={layout}
        progress={seen}
        activity={activity}
        selected={selected}
        onSelect={(id) => setSelected((last) => (last === id ? undefined : id))}
      />
      <div className="picture-words">
        {node !== undefined && (
          <NodeDetails
            node={node}
            onOpen={() => {
              const { inner, name } = node;
              if (inner !== undefined) show([...opened, { name: visibleName(name), part: inner }]);
            }}
            onClose={() => setSelected(undefined)}
          />
        )}
        {picture.kind === "orchestrator" && opened.length === 0 && (
          <Ledgers team={handle} component={component} turns={team.run?.turns} />
        )}
        {cut && <p className="muted">Only the last messages of this long run are counted.</p>}
        <InWords picture={picture} progress={seen} activity={activity} />
      </div>
    </section>
  );
}
