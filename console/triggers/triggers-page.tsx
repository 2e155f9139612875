import { useCallback } from "react";
import { ManagedPage } from "../managed/managed-page.tsx";
import { useFramedTeam } from "../team/framed-team.ts";
import { Receivers } from "./receivers.tsx";
import { TriggerEntry } from "./trigger-entry.tsx";
import { TriggerForm } from "./trigger-form.tsx";

/** The most triggers of a team fit on one page of the list. */
const PAGE = 50;

/** The triggers of a team, and the receivers of messages about it. */
export function TriggersPage() {
  const { teamId, handle: team } = useFramedTeam();
  const load = useCallback(
    async () => (await team.triggers.list({ limit: PAGE })).triggers,
    [team],
  );
  return (
    <ManagedPage
      noun="trigger"
      team={teamId}
      name="Triggers"
      about="A trigger starts a run when an event comes in: from GitHub, Stripe, Slack, a program or by e-mail."
      aboutSecret="Give it to the sender."
      deleted={({ id }) => `The trigger ${id} was deleted.`}
      load={load}
      onRotate={({ id }) => team.triggers.rotateSecret(id)}
      onDelete={({ id }) => team.triggers.delete(id)}
      entry={(trigger, actions) => (
        <TriggerEntry key={trigger.id} team={team} trigger={trigger} actions={actions} />
      )}
      form={({ item, ...form }) => <TriggerForm team={team} trigger={item} {...form} />}
    >
      <Receivers team={team} />
    </ManagedPage>
  );
}
