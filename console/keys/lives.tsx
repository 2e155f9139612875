const DAY = 86_400;

interface LifeProps {
  lives: Readonly<Record<string, string>>;
  seconds: string;
  onChange: (seconds: string) => void;
}

/** The lifetimes of keys, in seconds. */
export const KEY_LIVES = {
  "": "until it is revoked",
  [DAY]: "a day",
  [7 * DAY]: "a week",
  [30 * DAY]: "30 days",
  [90 * DAY]: "90 days",
  [365 * DAY]: "a year",
};

/** The lifetimes of team tokens. */
export const TOKEN_LIVES = { 600: "10 minutes", 3600: "an hour", [DAY]: "a day" };

export function Life({ lives, seconds, onChange }: LifeProps) {
  return (
    <label className="field">
      <span>Valid for</span>
      <select value={seconds} onChange={(event) => onChange(event.target.value)}>
        {Object.entries(lives).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
