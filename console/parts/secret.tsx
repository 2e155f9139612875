import { CopyButton } from "../text/copy-button.tsx";
import { Dialog } from "./dialog.tsx";

interface SecretProps {
  title: string;
  /** What it is for, and that it is not shown again. */
  text: string;
  secret: string;
  onClose: () => void;
}

/** A secret that is shown this once. */
export function Secret({ title, text, secret, onClose }: SecretProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div className="secret">
        <input
          className="code"
          readOnly
          aria-label="Secret"
          value={secret}
          data-focus
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={secret} />
      </div>
      <div className="buttons">
        <button className="button primary" type="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
