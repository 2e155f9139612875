import type { Answer, HumanRequest, ListedRequest } from "troupe/client";
import { OutsideLink } from "../parts/outside-link.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { visibleName } from "../text/foreign.ts";
import { promptOf } from "./prompt.ts";

interface LoginRequestProps {
  request: HumanRequest | ListedRequest;
  login: NonNullable<HumanRequest["login"]>;
  /** Why the server did not accept the last answer. */
  refused: Error | undefined;
  onAnswer: (answer: Answer) => void;
}

/** A login that a run waits for. It answers itself when it is done. */
export function LoginRequest({ request, login, refused, onAnswer }: LoginRequestProps) {
  const { source, url } = request;
  return (
    <div className="stack" role="group" aria-label={`Login for ${source}`}>
      <p>
        <strong>
          <Name name={source} />
        </strong>{" "}
        is waiting for a login
      </p>
      <p className="name">{visibleName(promptOf(request))}</p>
      <p className="muted">The run continues by itself when the login is done.</p>
      <Problem error={refused} />
      <div className="buttons">
        <button
          className="button"
          type="button"
          aria-keyshortcuts="r"
          onClick={() => onAnswer({ content: "cancel" })}
        >
          Continue without login
        </button>
        {url !== undefined && (
          <OutsideLink url={url} label={`Log in at ${login.server}`} keys="a" />
        )}
      </div>
    </div>
  );
}
