import { Name } from "../parts/name.tsx";
import type { Opened } from "./shown-part.ts";

interface TrailProps {
  /** The name of the outermost team. */
  label: string;
  opened: readonly Opened[];
  onShow: (opened: readonly Opened[]) => void;
}

/** The teams around the one that is shown. */
export function Trail({ label, opened, onShow }: TrailProps) {
  if (opened.length === 0) return null;
  return (
    <nav className="picture-trail" aria-label="Teams around this one">
      <button className="button quiet small" type="button" onClick={() => onShow([])}>
        <Name name={label} />
      </button>
      {opened.map(({ name }, index) => (
        <span key={index}>
          {"/ "}
          <button
            className="button quiet small"
            type="button"
            aria-current={index === opened.length - 1}
            onClick={() => onShow(opened.slice(0, index + 1))}
          >
            <Name name={name} />
          </button>
        </span>
      ))}
    </nav>
  );
}
