import type { WebhookTest } from "troupe/client";
import { LongText } from "../text/long-text.tsx";

interface AttemptProps {
  attempt: Pick<WebhookTest, "status" | "error" | "response" | "duration_ms">;
  name: string;
}

/** How a call went: its answer, or why there was none. */
export function Attempt({ attempt, name }: AttemptProps) {
  const { status, error, response, duration_ms } = attempt;
  return (
    <div className={error === null ? "attempt" : "attempt item-problem"} role="status">
      <p>
        {name}: {error ?? `answered with ${status}`} ({duration_ms} ms)
      </p>
      {response !== null && response !== "" && <LongText text={response} />}
    </div>
  );
}
