import type { HumanRequest } from "troupe/client";
import { useMay } from "../shell/access.tsx";

export type Reach = NonNullable<HumanRequest["allow"]>[number];

const NAMES: Readonly<Record<Reach, string>> = {
  run: "Always in this run",
  team: "Always in this team",
};

interface ReachChoiceProps {
  /** The reaches that the request permits. */
  allow: readonly Reach[];
  chosen: Reach | undefined;
  onChange: (reach: Reach | undefined) => void;
}

/** A choice of the equal calls for which an approval counts as well. */
export default function ReachChoice({ allow, chosen, onChange }: ReachChoiceProps) {
  const mayTeam = useMay("teams:write");
  const reaches = allow.filter((reach) => reach === "run" || mayTeam);
  if (reaches.length === 0) return null;
  return (
    <select
      className="reach"
      aria-label="Always allow this"
      title="The same call with the same arguments is not asked about again."
      value={chosen ?? ""}
      onChange={({ target }) => onChange(reaches.find((reach) => reach === target.value))}
    >
      <option value="">Only this call</option>
      {reaches.map((reach) => (
        <option key={reach} value={reach}>
          {NAMES[reach]}
        </option>
      ))}
    </select>
  );
}
