import { EventChoices } from "../managed/event-choices.tsx";
import { RECEIVER_KINDS, type ReceiverKind, RECEIVERS, type TypedReceiver } from "./receiver.ts";

interface ReceiverFieldsProps {
  receiver: TypedReceiver;
  onChange: (receiver: TypedReceiver) => void;
}

/** The fields of a receiver of messages. The kind of a stored one stays. */
export function ReceiverFields({ receiver, onChange }: ReceiverFieldsProps) {
  const { id, kind, url, token, chat, to, on } = receiver;
  const change = (next: Partial<TypedReceiver>): void => onChange({ ...receiver, ...next });
  return (
    <>
      {id === undefined && (
        <label className="field">
          <span>Kind</span>
          <select
            value={kind}
            onChange={(event) => change({ kind: event.target.value as ReceiverKind })}
          >
            {RECEIVER_KINDS.map((name) => (
              <option key={name} value={name}>
                {RECEIVERS[name]}
              </option>
            ))}
          </select>
        </label>
      )}
      {(kind === "slack" || kind === "webhook") && (
        <Line
          label={kind === "slack" ? "URL of an incoming webhook" : "URL"}
          value={url}
          onChange={(next) => change({ url: next })}
        />
      )}
      {kind === "telegram" && (
        <div className="two-fields">
          <Line
            label="Token of the bot"
            value={token}
            onChange={(next) => change({ token: next })}
          />
          <Line
            label="Chat ID or @channel"
            value={chat}
            onChange={(next) => change({ chat: next })}
          />
        </div>
      )}
      {kind === "email" && (
        <Line label="E-mail address" value={to} onChange={(next) => change({ to: next })} />
      )}
      <EventChoices chosen={on} onChange={(next) => change({ on: next })} />
    </>
  );
}

interface LineProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

function Line({ label, value, onChange }: LineProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="code"
        required
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
