import { shortKindOf } from "../teams/kinds.ts";

interface ClassChoiceProps {
  label: string;
  /** The class of the part; empty if there is none. */
  provider: string;
  /** The classes that fit. The one that the part has stays, also if it is not among them. */
  classes: readonly { provider: string; name: string }[];
  /** True if no class may be chosen. */
  optional?: boolean;
  onChoose: (provider: string) => void;
}

/** The class of a part of a team, by its name. */
export function ClassChoice(props: ClassChoiceProps) {
  const { label, provider, classes, optional = false, onChoose } = props;
  const isListed = provider === "" || classes.some((one) => one.provider === provider);
  return (
    <label className="field">
      <span>{label}</span>
      <select value={provider} onChange={({ target }) => onChoose(target.value)}>
        {optional && <option value="">None</option>}
        {!isListed && <option value={provider}>{shortKindOf(provider)}</option>}
        {classes.map((one) => (
          <option key={one.provider} value={one.provider}>
            {one.name}
          </option>
        ))}
      </select>
    </label>
  );
}
