import { IconButton } from "../parts/icon-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { typedReceiver, type TypedReceiver } from "./receiver.ts";
import { ReceiverFields } from "./receiver-fields.tsx";

interface TriggerReceiversProps {
  receivers: readonly TypedReceiver[];
  onChange: (receivers: readonly TypedReceiver[]) => void;
}

/** The receivers of messages about the runs of one trigger. */
export function TriggerReceivers({ receivers, onChange }: TriggerReceiversProps) {
  return (
    <fieldset className="conditions">
      <legend>Messages about its runs (optional)</legend>
      {receivers.map((receiver, index) => {
        const name = `Receiver ${index + 1}`;
        return (
          <div key={index} className="stack framed" role="group" aria-label={name}>
            <div className="framed-head">
              <strong>{name}</strong>
              <IconButton
                small
                icon="bin"
                name={`Remove receiver ${index + 1}`}
                onClick={() => onChange(receivers.toSpliced(index, 1))}
              />
            </div>
            <ReceiverFields
              receiver={receiver}
              onChange={(next) => onChange(receivers.with(index, next))}
            />
          </div>
        );
      })}
      <div>
        <button
          className="button small"
          type="button"
          onClick={() => onChange([...receivers, typedReceiver(undefined)])}
        >
          <Icon name="plus" />
          Add receiver
        </button>
      </div>
    </fieldset>
  );
}
