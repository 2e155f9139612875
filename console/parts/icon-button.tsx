import { Icon, type IconName } from "./icon.tsx";

interface IconButtonProps {
  icon: IconName;
  /** The label for screen readers. */
  name: string;
  /** Shown on hover; the name by default. */
  title?: string | undefined;
  /** As in `aria-keyshortcuts`. */
  keys?: string | undefined;
  small?: boolean;
  /** Its action is in progress. */
  busy?: boolean;
  disabled?: boolean;
  onClick: () => void;
}

/** A button without text. */
export function IconButton({
  icon,
  name,
  title = name,
  keys,
  small,
  busy,
  disabled = false,
  onClick,
}: IconButtonProps) {
  return (
    <button
      className={small ? "button small quiet icon-only" : "button quiet icon-only"}
      type="button"
      aria-label={name}
      title={title}
      aria-keyshortcuts={keys}
      disabled={busy === true || disabled}
      aria-busy={busy}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
