import type { ReactNode } from "react";
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
import { JsonField } from "../fields/json-field.tsx";
import { type Mistake, Mistakes } from "../fields/mistakes.tsx";
import { type ValuePath, valueAt } from "../component/value-path.ts";
import { TeamFields } from "../fields/team-fields.tsx";
import { useServerParts } from "../component/use-server-parts.ts";

/** The part of a component that the panel beside the picture changes. */
export type EditorSubject =
  | { kind: "node"; node: PictureNode; path: ValuePath }
  | { kind: "team" | "add" | "json" };

interface EditorPanelProps {
  subject: EditorSubject;
  component: ComponentData;
  /** The place of the team that is drawn. */
  team: ValuePath;
  mistakes: readonly Mistake[];
  onChange: (component: ComponentData) => void;
  /** Called when an agent was added, moved or renamed: it has this name now. */
  onAgent: (component: ComponentData, name: string) => void;
  onRemove: (node: PictureNode) => void;
  onOpen: () => void;
  onClose: () => void;
}

/** Changes an agent, a team, or its JSON, where it is drawn. */
export default function EditorPanel(props: EditorPanelProps) {
  const { subject, component, team, mistakes, onChange, onAgent, onRemove, onOpen, onClose } =
    props;
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
            onAgent={onAgent}
            onRemove={() => onRemove(subject.node)}
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
  const title = titleOf(subject);
  const place = subject.kind === "node" ? subject.path : team;
  const part = valueAt(component, place);
  const { provider = "" } = (part ?? {}) as Partial<ComponentData>;
  return (
    <aside key={JSON.stringify([subject.kind, place])} className="node-editor" aria-label={title}>
      <header>
        <h2>{node ? <Name name={node.name} /> : title}</h2>
        {subject.kind !== "add" && subject.kind !== "json" && (
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
      <Problem error={error} />
      {server === undefined && error === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      <Mistakes value={mistakes}>{body()}</Mistakes>
    </aside>
  );
}

function titleOf(subject: EditorSubject): string {
  switch (subject.kind) {
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
