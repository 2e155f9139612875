import { useState } from "react";
import type { Message, TeamClient } from "troupe/client";
import { useLocation } from "wouter";
import { comparison } from "../compare/address.ts";
import { forkBefore, namedFork } from "../conversation/fork.ts";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { useNotices } from "../shell/notices.tsx";
import type { CatalogueTeam } from "../component/catalogue.ts";

interface TryInForkProps {
  team: TeamClient;
  component: CatalogueTeam;
  /** The conversation as far as it is loaded. */
  messages: readonly Message[];
  onClose: () => void;
}

/** Runs a task in a fork with a changed component, and shows it beside the original. */
export function TryInFork({ team, component, messages, onClose }: TryInForkProps) {
  const [, navigate] = useLocation();
  const { tell } = useNotices();
  const last = messages.findLast((message) => message.source === "user");
  const [task, setTask] = useState(last?.type === "TextMessage" ? last.content : "");
  const submit = async (): Promise<void> => {
    const { id } = await forkWithComponent(team, component, last, task);
    navigate(comparison(team.id, id));
    tell("The fork runs with your changes.", {
      href: `/teams/${id}`,
      name: "Open fork",
    });
  };
  return (
    <FormDialog title="Try in a fork" button="Fork and run" onSubmit={submit} onClose={onClose}>
      <label className="field">
        <span>
          {last === undefined
            ? "The task for the fork. This team stays unchanged."
            : "The fork continues with this task from before the last one. This team stays unchanged."}
        </span>
        <textarea
          rows={5}
          data-focus
          required
          value={task}
          onChange={(event) => setTask(event.target.value)}
        />
      </label>
    </FormDialog>
  );
}

/** A running fork with another component, from before the last task. Without it, the fork is erased again. */
async function forkWithComponent(
  team: TeamClient,
  component: CatalogueTeam,
  last: Message | undefined,
  task: string,
): Promise<TeamClient> {
  const fork = await (last === undefined ? namedFork(team) : forkBefore(team, last));
  try {
    await fork.replaceComponent(component);
    await fork.start(task);
  } catch (error) {
    await fork.delete();
    throw error;
  }
  return fork;
}
