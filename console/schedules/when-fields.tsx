import { useId } from "react";
import { meaningOf, TIME_ZONES, timeIn } from "./cron.ts";

/** The fields for the times of a schedule. */
export interface When {
  kind: "cron" | "at";
  cron: string;
  timezone: string;
  /** In the browser's time zone. */
  at: string;
}

const EXAMPLES = [
  ["0 8 * * 1-5", "weekdays at 8"],
  ["0 * * * *", "every hour"],
  ["*/15 * * * *", "every 15 minutes"],
  ["0 9 * * MON", "Mondays at 9"],
  ["0 7 1 * *", "the first of the month"],
] as const;

export function whenIsComplete(when: When): boolean {
  return when.kind === "at" ? when.at !== "" : !("problem" in meaningOf(when.cron, when.timezone));
}

interface WhenFieldsProps {
  when: When;
  onChange: (when: When) => void;
}

/** The fields for the times of a schedule, with their meaning in words. */
export function WhenFields({ when, onChange }: WhenFieldsProps) {
  const repeated = when.kind === "cron";
  return (
    <>
      <div className="segments" role="group" aria-label="Frequency">
        <button
          type="button"
          aria-pressed={repeated}
          onClick={() => onChange({ ...when, kind: "cron" })}
        >
          Repeatedly
        </button>
        <button
          type="button"
          aria-pressed={!repeated}
          onClick={() => onChange({ ...when, kind: "at" })}
        >
          Once
        </button>
      </div>
      {repeated ? (
        <CronFields when={when} onChange={onChange} />
      ) : (
        <label className="field">
          <span>Date and time</span>
          <input
            type="datetime-local"
            required
            value={when.at}
            onChange={(event) => onChange({ ...when, at: event.target.value })}
          />
        </label>
      )}
    </>
  );
}

function CronFields({ when, onChange }: WhenFieldsProps) {
  const { cron, timezone } = when;
  const id = useId();
  const meaning = meaningOf(cron, timezone);
  const wrong = "problem" in meaning;
  return (
    <>
      <div className="two-fields">
        <label className="field">
          <span>Cron expression: minute, hour, day, month, weekday</span>
          <input
            className="code"
            required
            spellCheck={false}
            autoComplete="off"
            data-focus
            value={cron}
            aria-invalid={wrong}
            aria-describedby={`${id}-meaning`}
            onChange={(event) => onChange({ ...when, cron: event.target.value })}
          />
        </label>
        <label className="field">
          <span>Time zone</span>
          <input
            required
            list={`${id}-zones`}
            value={timezone}
            onChange={(event) => onChange({ ...when, timezone: event.target.value })}
          />
          <datalist id={`${id}-zones`}>
            {TIME_ZONES.map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </label>
      </div>
      <div className="examples">
        {EXAMPLES.map(([example, name]) => (
          <button
            key={example}
            className="button small"
            type="button"
            onClick={() => onChange({ ...when, cron: example })}
          >
            {name}
          </button>
        ))}
      </div>
      <div id={`${id}-meaning`} className="meaning" role="status" data-wrong={wrong}>
        {wrong ? (
          <p>{meaning.problem}</p>
        ) : (
          <>
            <p>
              <strong>{meaning.words}</strong>
            </p>
            <ol>
              {meaning.times.map((time) => (
                <li key={time.getTime()}>{timeIn(time, timezone)}</li>
              ))}
            </ol>
          </>
        )}
      </div>
    </>
  );
}
