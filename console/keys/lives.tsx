const DAY = 86_400;

interface LifeProps {
  lives: Readonly<Record<string, string>>;
  seconds: string;
  onChange: (seconds: string) => void;
}

/** The lifetimes of keys, in seconds. */
export const KEY_LIVES = {
  "": "No expiry",
  [DAY]: "1 day",
  [7 * DAY]: "7 days",
  [30 * DAY]: "30 days",
  [90 * DAY]: "90 days",
  [365 * DAY]: "1 year",
};

/** The lifetimes of team tokens. */
export const TOKEN_LIVES = { 600: "10 minutes", 3600: "1 hour", [DAY]: "1 day" };

export function Life({ lives, seconds, onChange }: LifeProps) {
  return (
    <label className="field">
      <span>Expires after</span>
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
