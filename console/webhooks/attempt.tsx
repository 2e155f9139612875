import type { WebhookTest } from "troupe/client";
import { LongText } from "../text/long-text.tsx";

interface AttemptProps {
  attempt: Pick<WebhookTest, "status" | "error" | "response" | "duration_ms">;
  name: string;
}

/** The result of a call: its response, or the error. */
export function Attempt({ attempt, name }: AttemptProps) {
  const { status, error, response, duration_ms } = attempt;
  return (
    <div className={error === null ? "attempt" : "attempt item-problem"} role="status">
      <p>
        {name}: {error ?? `response ${status}`} ({duration_ms} ms)
      </p>
      {response !== null && response !== "" && <LongText text={response} />}
    </div>
  );
}
