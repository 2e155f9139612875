import { EVENT_NAMES, type EventName, EVENTS } from "../webhooks/events.ts";

interface EventChoicesProps {
  chosen: readonly EventName[];
  /** True if the names of the API are shown, too. */
  names?: boolean;
  onChange: (chosen: readonly EventName[]) => void;
}

/** The events of which a receiver learns. */
export function EventChoices({ chosen, names = false, onChange }: EventChoicesProps) {
  const choose = (name: EventName, isChosen: boolean): void =>
    onChange(EVENT_NAMES.filter((one) => (one === name ? isChosen : chosen.includes(one))));
  return (
    <fieldset className="choices">
      <legend>Events</legend>
      {EVENT_NAMES.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={(event) => choose(name, event.target.checked)}
          />
          <span>
            {EVENTS[name]}
            {names && (
              <>
                {" "}
                <code className="muted">{name}</code>
              </>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
