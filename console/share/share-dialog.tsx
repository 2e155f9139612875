import { useState } from "react";
import type { TeamClient, TeamToken } from "troupe/client";
import { Life } from "../keys/lives.tsx";
import { Dialog } from "../dialogs/dialog.tsx";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { SecretText } from "../dialogs/secret.tsx";
import { Problem } from "../parts/problem.tsx";
import { Exact } from "../parts/time.tsx";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { type Scope, useMay } from "../shell/access.tsx";
import { useNotices } from "../shell/notices.tsx";
import { addressOf } from "./link.ts";
import { SharedLinks } from "./shared-links.tsx";

const DAY = 86_400;
const LIVES = {
  [DAY]: "1 day",
  [7 * DAY]: "7 days",
  [30 * DAY]: "30 days",
  [90 * DAY]: "90 days",
};

const PARTS: readonly { scope: Scope; name: string; text: string }[] = [
  { scope: "tools:read", name: "tools", text: "Tool arguments and results" },
  { scope: "files:read", name: "files", text: "Files of the team" },
  {
    scope: "component:read",
    name: "settings",
    text: "System messages of the agents, and other settings of the team",
  },
];

const PART_NAMES: ReadonlyMap<Scope, string> = new Map(
  PARTS.map(({ scope, name }) => [scope, name]),
);

interface ShareDialogProps {
  team: TeamClient;
  onClose: () => void;
}

/** Makes a link with which everybody who has it can read the team's conversation. */
export default function ShareDialog({ team, onClose }: ShareDialogProps) {
  const [parts, setParts] = useState<readonly Scope[]>([]);
  const [seconds, setSeconds] = useState(String(7 * DAY));
  const [link, setLink] = useState<TeamToken>();
  if (link !== undefined) return <Link team={team} link={link} onClose={onClose} />;
  const create = async (): Promise<void> => {
    const scopes: Scope[] = ["conversation:read", ...parts];
    setLink(await team.createToken({ scopes, expires_in: Number(seconds) }));
  };
  return (
    <FormDialog
      title="Share this conversation"
      button="Create link"
      onSubmit={create}
      onClose={onClose}
    >
      <p>Anyone with the link can read this conversation, including later messages.</p>
      <fieldset className="choices">
        <legend>The link also shows</legend>
        {PARTS.map(({ scope, text }) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={parts.includes(scope)}
              onChange={({ target }) =>
                setParts(target.checked ? [...parts, scope] : parts.filter((one) => one !== scope))
              }
            />
            <span>{text}</span>
          </label>
        ))}
      </fieldset>
      <Life lives={LIVES} seconds={seconds} onChange={setSeconds} />
      <SharedLinks team={team} names={PART_NAMES} />
    </FormDialog>
  );
}

interface LinkProps extends ShareDialogProps {
  link: TeamToken;
}

function Link({ team, link, onClose }: LinkProps) {
  const mayRevokeAll = useMay("keys:write");
  const { tell } = useNotices();
  const task = useButtonAction();
  const address = addressOf({ team: team.id, token: link.token });
  const revoke = async (id?: string): Promise<void> => {
    await team.revokeTokens(id);
    onClose();
    tell(
      id === undefined
        ? "All links and tokens of this team were revoked."
        : "The link was revoked.",
    );
  };
  return (
    <Dialog title="The link is ready" onClose={onClose}>
      <p>
        Copy it now: it is not shown again. It works until <Exact time={link.expires_at} />.
      </p>
      <SecretText label="Link" text={address} />
      <Problem error={task.error} />
      <div className="buttons">
        {mayRevokeAll && (
          <button
            className="button quiet"
            type="button"
            disabled={task.busy}
            title="Revokes all links and team tokens of this team"
            onClick={() => void task.run(() => revoke())}
          >
            Revoke all links
          </button>
        )}
        <button
          className="button"
          type="button"
          disabled={task.busy}
          onClick={() => void task.run(() => revoke(link.id))}
        >
          Revoke this link
        </button>
        <button className="button primary" type="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
