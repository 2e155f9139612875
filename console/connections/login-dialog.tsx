import type { StartedConnection } from "troupe/client";
import { Dialog } from "../dialogs/dialog.tsx";
import { SecretText } from "../dialogs/secret.tsx";
import { OutsideLink } from "../parts/outside-link.tsx";
import { visibleName } from "../text/foreign.ts";

interface LoginDialogProps {
  login: StartedConnection;
  onClose: () => void;
}

/** A login that has begun: its link, and its address for the person who has the account. */
export function LoginDialog({ login, onClose }: LoginDialogProps) {
  const { server, user, authorization_url, expires_at } = login;
  return (
    <Dialog title="Log in" onClose={onClose}>
      <p>
        {user === null
          ? "Runs without a user act as the person who logs in."
          : `Runs of ${visibleName(user)} act as the person who logs in.`}{" "}
        This dialog closes after the login.
      </p>
      <div className="buttons">
        <OutsideLink url={authorization_url} label={`Log in at ${new URL(server).host}`} />
      </div>
      <p className="muted">
        You can also send the link to someone who has an account there. It works once, until{" "}
        {new Date(expires_at).toLocaleString()}.
      </p>
      <SecretText label="Login link" text={authorization_url} />
    </Dialog>
  );
}
