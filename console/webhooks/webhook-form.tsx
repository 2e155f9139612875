import { useState } from "react";
import type { WebhookInfo } from "troupe/client";
import { useTroupe } from "troupe/react";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { IdField } from "../dialogs/id-field.tsx";
import { EVENT_NAMES, type EventName, EVENTS } from "./events.ts";

interface WebhookFormProps {
  /** The webhook to change; undefined for a new one. */
  webhook: WebhookInfo | undefined;
  /** The ids that exist. */
  taken: readonly string[];
  onClose: () => void;
  /** @param secret the secret of a new webhook */
  onSaved: (secret: string | undefined) => void;
}

export function WebhookForm({ webhook, taken, onClose, onSaved }: WebhookFormProps) {
  const client = useTroupe();
  const [id, setId] = useState(webhook?.id ?? "");
  const [url, setUrl] = useState(webhook?.url ?? "https://");
  const [team, setTeam] = useState(webhook?.team ?? "");
  const [description, setDescription] = useState(webhook?.description ?? "");
  const [enabled, setEnabled] = useState(webhook?.enabled ?? true);
  const [events, setEvents] = useState<readonly EventName[]>(
    webhook?.events ?? ["run.completed", "run.failed"],
  );
  const exists = webhook === undefined && taken.includes(id);

  const submit = async (): Promise<void> => {
    const stored = await client.webhooks.put(id, {
      url: url.trim(),
      events: [...events],
      team: team.trim() || null,
      description: description.trim() || null,
      enabled,
    });
    onClose();
    onSaved(stored.secret);
  };
  const choose = (name: EventName, chosen: boolean): void =>
    setEvents(EVENT_NAMES.filter((one) => (one === name ? chosen : events.includes(one))));

  return (
    <FormDialog
      title={webhook === undefined ? "New webhook" : `Edit ${webhook.id}`}
      button={webhook === undefined ? "Create webhook" : "Save"}
      complete={!exists && events.length > 0}
      wide
      onSubmit={submit}
      onClose={onClose}
    >
      {webhook === undefined && <IdField id={id} onChange={setId} />}
      <label className="field">
        <span>URL</span>
        <input
          className="code"
          type="url"
          required
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
      </label>
      <fieldset className="choices">
        <legend>Events</legend>
        {EVENT_NAMES.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={events.includes(name)}
              onChange={(event) => choose(name, event.target.checked)}
            />
            <span>
              {EVENTS[name]} <code className="muted">{name}</code>
            </span>
          </label>
        ))}
      </fieldset>
      <div className="two-fields">
        <label className="field">
          <span>Description (optional)</span>
          <input
            maxLength={500}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        </label>
        <label className="field">
          <span>Team ID (optional; empty for all teams)</span>
          <input value={team} onChange={(event) => setTeam(event.target.value)} />
        </label>
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={enabled}
          onChange={(event) => setEnabled(event.target.checked)}
        />
        Enabled
      </label>
      {exists && <p className="problem">A webhook with this ID exists. Choose another ID.</p>}
    </FormDialog>
  );
}
