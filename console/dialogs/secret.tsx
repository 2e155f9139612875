import { CopyButton } from "../text/copy-button.tsx";
import { Dialog } from "./dialog.tsx";

interface SecretProps {
  title: string;
  /** Explains its purpose, and that it is not shown again. */
  text: string;
  secret: string;
  onClose: () => void;
}

/** A secret that is shown only once. */
export function Secret({ title, text, secret, onClose }: SecretProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <SecretText label="Secret" text={secret} />
      <div className="buttons">
        <button className="button primary" type="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

/** A text to copy, which is selected when it has the focus. */
export function SecretText({ label, text }: { label: string; text: string }) {
  return (
    <div className="secret">
      <input
        className="code"
        readOnly
        aria-label={label}
        value={text}
        data-focus
        onFocus={(event) => event.currentTarget.select()}
      />
      <CopyButton text={text} />
    </div>
  );
}
