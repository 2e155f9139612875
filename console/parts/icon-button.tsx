import { Icon, type IconName } from "./icon.tsx";

interface IconButtonProps {
  icon: IconName;
  /** Read to those who do not see the icon. */
  name: string;
  /** Shown while the pointer is on it. */
  title?: string | undefined;
  /** As in `aria-keyshortcuts`. */
  keys?: string | undefined;
  small?: boolean;
  /** Its action is in progress. */
  busy?: boolean;
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
  onClick,
}: IconButtonProps) {
  return (
    <button
      className={small ? "button small quiet icon-only" : "button quiet icon-only"}
      type="button"
      aria-label={name}
      title={title}
      aria-keyshortcuts={keys}
      disabled={busy}
      aria-busy={busy}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
