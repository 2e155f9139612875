import { useCallback, useId, useState } from "react";
import type { ReceiverInput, ShownReceiver, TeamClient } from "troupe/client";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { useMay } from "../shell/access.tsx";
import { useGone, useNotices } from "../shell/notices.tsx";
import { EVENTS } from "../webhooks/events.ts";
import { RECEIVERS } from "./receiver.ts";
import { ReceiverForm } from "./receiver-form.tsx";

/** The receivers of messages about a team. */
export function Receivers({ team }: { team: TeamClient }) {
  const heading = useId();
  const load = useCallback(() => team.notify(), [team]);
  const { value, error, reload } = useLoaded(load);
  const [form, setForm] = useState<ShownReceiver | "new">();
  const { postpone } = useNotices();
  const gone = useGone();
  const mayWrite = useMay("teams:write");
  const keyOf = ({ id }: ShownReceiver): string => `receiver ${team.id} ${id}`;

  /** Reads the stored list, and stores the changed one. */
  const change = async (
    changed: (stored: readonly ShownReceiver[]) => readonly (ShownReceiver | ReceiverInput)[],
  ): Promise<void> => {
    const { notify } = await team.notify();
    // A list that was read can be sent back as it is.
    await team.putNotify(changed(notify) as readonly ReceiverInput[]);
  };
  const remove = (receiver: ShownReceiver): void =>
    postpone({
      key: keyOf(receiver),
      text: `${addressOf(receiver)} gets no more messages.`,
      action: () => change((stored) => stored.filter(({ id }) => id !== receiver.id)),
    });
  const save = async (given: ReceiverInput): Promise<void> => {
    await change((stored) =>
      given.id === undefined
        ? [...stored, given]
        : stored.map((one) => (one.id === given.id ? given : one)),
    );
    setForm(undefined);
    reload();
  };

  const receivers = value?.notify.filter((receiver) => !gone.has(keyOf(receiver)));
  return (
    <section className="stack" aria-labelledby={heading}>
      <h2 id={heading}>Messages</h2>
      <p className="muted">
        Slack, Telegram, an e-mail address or a webhook learn when the team asks or is done.
      </p>
      {value === undefined && error !== undefined && <Failure error={error} onRetry={reload} />}
      {receivers !== undefined && receivers.length > 0 && (
        <ul className="items" aria-label="Receivers of messages">
          {receivers.map((receiver) => {
            const state = value?.states.find(({ id }) => id === receiver.id);
            return (
              <li key={receiver.id} className="item">
                <div className="item-main">
                  <p className="item-title">{RECEIVERS[receiver.kind]}</p>
                  <p className="item-text">
                    <code>{addressOf(receiver)}</code>
                  </p>
                  <p className="muted item-facts">
                    {receiver.on.map((name) => (
                      <span key={name}>{EVENTS[name]}</span>
                    ))}
                    {state?.links === false && <span>Without links that answer</span>}
                  </p>
                  {state?.disabled_reason != null && (
                    <p className="problem">Disabled: {state.disabled_reason}</p>
                  )}
                </div>
                {mayWrite && (
                  <div className="item-actions" role="group" aria-label={addressOf(receiver)}>
                    <IconButton icon="edit" name="Edit" onClick={() => setForm(receiver)} />
                    <IconButton icon="bin" name="Delete" onClick={() => remove(receiver)} />
                  </div>
                )}
              </li>
            );
          })}
        </ul>
      )}
      {mayWrite && receivers !== undefined && (
        <div>
          <button className="button" type="button" onClick={() => setForm("new")}>
            <Icon name="plus" />
            New receiver
          </button>
        </div>
      )}
      {form !== undefined && (
        <ReceiverForm
          receiver={form === "new" ? undefined : form}
          onSave={save}
          onClose={() => setForm(undefined)}
        />
      )}
    </section>
  );
}

function addressOf({ kind, url, chat, to }: ShownReceiver): string {
  return url ?? chat ?? to ?? kind;
}
