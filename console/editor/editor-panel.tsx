import { type ReactNode, useEffect, useRef } from "react";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import type { PictureNode } from "../picture/picture.ts";
import { kindOf } from "../teams/kinds.ts";
import { visibleName } from "../text/foreign.ts";
import { AddAgent } from "./add-agent.tsx";
import { AgentFields } from "../fields/agent-fields.tsx";
import type { ComponentData } from "../component/catalogue.ts";
import { JsonField } from "../inputs/json-field.tsx";
import { Flaws } from "../inputs/flaw.tsx";
import { Mistakes } from "../inputs/mistakes.tsx";
import type { Mistake } from "../component/repairs.ts";
import { silentAgents } from "../component/silent-agents.ts";
import { connectionAt } from "../component/connections.ts";
import { isWithin, type ValuePath, valueAt } from "../component/value-path.ts";
import { useWantedFocus, Wanted } from "../inputs/wanted.ts";
import { EdgeFields } from "../fields/edge-fields.tsx";
import { TeamFields } from "../fields/team-fields.tsx";
import { useServerParts } from "../component/use-server-parts.ts";

export type EditorPanelKind = "team" | "add" | "json";

/** The part of a component that the panel beside the picture changes. */
export type EditorSubject =
  | { kind: "node"; node: PictureNode; path: ValuePath }
  | { kind: "edge"; path: ValuePath }
  | { kind: EditorPanelKind };

interface EditorPanelProps {
  subject: EditorSubject;
  component: ComponentData;
  /** The place of the team that is drawn. */
  team: ValuePath;
  mistakes: readonly Mistake[];
  /** The field to which the user is led. */
  wanted: ValuePath | undefined;
  onChange: (component: ComponentData) => void;
  /** Called when an agent was added, moved or renamed: it has this name now. */
  onAgent: (component: ComponentData, name: string) => void;
  onRemove: (node: PictureNode) => void;
  onRemoveEdge: (path: ValuePath) => void;
  /** Leads to a place. */
  onShow: (path: ValuePath) => void;
  onOpen: () => void;
  onClose: () => void;
}

/** Changes an agent, a team, or its JSON, where it is drawn. */
export default function EditorPanel(props: EditorPanelProps) {
  const { subject, component, team, mistakes, wanted, onOpen, onClose } = props;
  const { onChange, onAgent, onRemove, onRemoveEdge, onShow } = props;
  const { value: server, error } = useServerParts();
  const body = (): ReactNode => {
    if (server === undefined) return null;
    const common = { component, catalogue: server.catalogue, onChange };
    switch (subject.kind) {
      case "node":
        return subject.node.kind === "manager" ? (
          <TeamFields {...common} path={team} />
        ) : (
          <AgentFields
            {...common}
            path={subject.path}
            team={team}
            templates={server.templates}
            collections={server.collections}
            skills={server.skills}
            onAgent={onAgent}
            onRemove={() => onRemove(subject.node)}
          />
        );
      case "edge":
        return (
          <EdgeFields
            key={subject.path.join(" ")}
            component={component}
            team={team}
            path={subject.path}
            onChange={onChange}
            onShow={onShow}
            onRemove={() => onRemoveEdge(subject.path)}
          />
        );
      case "team":
        return <TeamFields {...common} path={team} />;
      case "add":
        return <AddAgent component={component} team={team} server={server} onAdd={onAgent} />;
      case "json":
        return (
          <JsonField
            path={[]}
            label="The whole component"
            value={component}
            onChange={(value) => onChange(value as ComponentData)}
          />
        );
    }
  };
  const node = subject.kind === "node" ? subject.node : undefined;
  const place = "path" in subject ? subject.path : team;
  const title = titleOf(subject, component, team);
  const silent = node && silentAgents(component, team).get(node.name);
  const flaws =
    subject.kind === "edge"
      ? mistakes.filter((mistake) => isWithin(mistake.path, place))
      : silent === undefined
        ? []
        : [silent];
  const form = useRef<HTMLElement>(null);
  const key = JSON.stringify([subject.kind, place]);
  const ready = server !== undefined;
  // Below the drawing, where the window is narrow, it would open unseen.
  useEffect(() => {
    form.current?.scrollIntoView({ block: "nearest" });
  }, [key, ready]);
  useWantedFocus(form, wanted, ready);
  const part = valueAt(component, place);
  const { provider = "" } = (part ?? {}) as Partial<ComponentData>;
  return (
    <aside key={key} ref={form} className="node-editor" aria-label={title}>
      <header>
        <h2>{node ? <Name name={node.name} /> : title}</h2>
        {(subject.kind === "node" || subject.kind === "team") && (
          <span className="muted" title={visibleName(provider)}>
            {visibleName(kindOf(provider))}
          </span>
        )}
        <IconButton icon="close" name="Close" onClick={onClose} />
      </header>
      {node?.inner !== undefined && (
        <button className="button" type="button" onClick={onOpen}>
          <Icon name="people" />
          Show its team
        </button>
      )}
      <Flaws mistakes={flaws} component={component} onChange={onChange} onShow={onShow} />
      <Problem error={error} />
      {server === undefined && error === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      <Mistakes value={mistakes}>
        <Wanted value={wanted}>{body()}</Wanted>
      </Mistakes>
    </aside>
  );
}

function titleOf(subject: EditorSubject, component: ComponentData, team: ValuePath): string {
  switch (subject.kind) {
    case "edge": {
      const { from, to } = connectionAt(component, team, subject.path);
      return `From ${visibleName(from)} to ${visibleName(to)}`;
    }
    case "node":
      return `About ${visibleName(subject.node.name)}`;
    case "team":
      return "Team settings";
    case "add":
      return "Add an agent";
    case "json":
      return "Component JSON";
  }
}
