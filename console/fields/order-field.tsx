import { IconButton } from "../parts/icon-button.tsx";
import type { ComponentData } from "../component/catalogue.ts";
import { namesIn, withOrder } from "../component/edits.ts";
import type { ValuePath } from "../component/value-path.ts";

interface OrderFieldProps {
  component: ComponentData;
  team: ValuePath;
  index: number;
  /** Called with the new place. */
  onMove: (component: ComponentData, to: number) => void;
}

/** The position of an agent in the order of its team. */
export function OrderField({ component, team, index, onMove }: OrderFieldProps) {
  const count = namesIn(component, team).length;
  const button = (to: number, icon: "send" | "down", name: string) => (
    <IconButton
      small
      icon={icon}
      name={name}
      disabled={to < 0 || to >= count}
      onClick={() => onMove(withOrder(component, team, index, to), to)}
    />
  );
  return (
    <div className="order-field" role="group" aria-label="Order">
      <span>
        Position {index + 1} of {count}
      </span>
      {button(index - 1, "send", "Move earlier")}
      {button(index + 1, "down", "Move later")}
    </div>
  );
}
