import type { ReactNode } from "react";
import { IconButton } from "../parts/icon-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { visibleName } from "../text/foreign.ts";
import { asTeam } from "../component/edits.ts";
import { hasKeptSecrets, type ValuePath } from "../component/value-path.ts";
import type { EditorPanelKind } from "./editor-panel.tsx";
import type { Draft } from "./use-draft.ts";

interface EditorToolsProps {
  draft: Draft;
  /** The place of the team that is drawn. */
  team: ValuePath;
  /** True for a team, false for an agent alone. */
  isTeam: boolean;
  /** True if its agents can be connected. */
  connects: boolean;
  panel: EditorPanelKind | undefined;
  /** The agent from which a connection is drawn; empty while it is chosen. */
  connecting: string | undefined;
  onPanel: (panel: EditorPanelKind) => void;
  onConnect: () => void;
  children: ReactNode;
}

/** Adds and connects agents, opens the panels beside the picture, and undoes changes. */
export function EditorTools(props: EditorToolsProps) {
  const { draft, team, isTeam, connects, panel, connecting, onPanel, onConnect, children } = props;
  return (
    <div className="picture-tools" role="toolbar" aria-label="Change the team">
      {isTeam ? (
        <>
          <PanelButton of="add" {...{ panel, onPanel }}>
            <Icon name="plus" />
            Add agent
          </PanelButton>
          {connects && (
            <button
              className="button small"
              type="button"
              aria-pressed={connecting !== undefined}
              onClick={onConnect}
            >
              <Icon name="arrow" />
              Connect
            </button>
          )}
          <PanelButton of="team" {...{ panel, onPanel }}>
            Team settings
          </PanelButton>
        </>
      ) : (
        team.length === 0 && (
          <button
            className="button small"
            type="button"
            disabled={hasKeptSecrets(draft.component)}
            title={
              hasKeptSecrets(draft.component)
                ? "The agent has a stored secret, which belongs to its place in the component"
                : undefined
            }
            onClick={() => {
              draft.change(asTeam(draft.component));
              onPanel("add");
            }}
          >
            <Icon name="people" />
            Convert to team
          </button>
        )
      )}
      <PanelButton of="json" {...{ panel, onPanel }}>
        JSON
      </PanelButton>
      {children}
      <span className="picture-tools-undo">
        <IconButton
          small
          icon="undo"
          name="Undo change"
          keys="Control+Z"
          disabled={draft.undo === undefined}
          onClick={() => draft.undo?.()}
        />
        <IconButton
          small
          icon="redo"
          name="Redo change"
          keys="Control+Shift+Z"
          disabled={draft.redo === undefined}
          onClick={() => draft.redo?.()}
        />
      </span>
      <p role="status" className={connecting === undefined ? "hidden" : "picture-tools-hint"}>
        {connecting === "" &&
          "Choose the agent where the connection starts. Press Escape to cancel."}
        {connecting !== undefined &&
          connecting !== "" &&
          `Choose the agent that comes after ${visibleName(connecting)}. Press Escape to cancel.`}
      </p>
    </div>
  );
}

interface PanelButtonProps {
  of: EditorPanelKind;
  panel: EditorPanelKind | undefined;
  onPanel: (panel: EditorPanelKind) => void;
  children: ReactNode;
}

function PanelButton({ of, panel, onPanel, children }: PanelButtonProps) {
  return (
    <button
      className="button small"
      type="button"
      aria-pressed={panel === of}
      onClick={() => onPanel(of)}
    >
      {children}
    </button>
  );
}
