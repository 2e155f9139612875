const DAY = 86_400;

interface LifeProps {
  lives: Readonly<Record<string, string>>;
  seconds: string;
  onChange: (seconds: string) => void;
}

/** How long keys can live, in seconds. */
export const KEY_LIVES = {
  "": "until it is revoked",
  [DAY]: "a day",
  [7 * DAY]: "a week",
  [30 * DAY]: "30 days",
  [90 * DAY]: "90 days",
  [365 * DAY]: "a year",
};

/** How long team tokens can live. */
export const TOKEN_LIVES = { 600: "10 minutes", 3600: "an hour", [DAY]: "a day" };

export function Life({ lives, seconds, onChange }: LifeProps) {
  return (
    <label className="field">
      <span>It is valid for</span>
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
