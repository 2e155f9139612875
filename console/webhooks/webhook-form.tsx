import { useState } from "react";
import type { WebhookInfo } from "troupe/client";
import { useTroupe } from "troupe/react";
import { EventChoices } from "../managed/event-choices.tsx";
import { ManagedForm } from "../managed/managed-form.tsx";
import type { EventName } from "./events.ts";

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
  return (
    <ManagedForm
      noun="webhook"
      changes={webhook?.id}
      id={id}
      taken={taken}
      complete={events.length > 0}
      onId={setId}
      onSubmit={submit}
      onClose={onClose}
    >
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
      <EventChoices names chosen={events} onChange={setEvents} />
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
    </ManagedForm>
  );
}
