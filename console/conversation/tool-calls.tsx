import { beginningOf } from "troupe/client";
import { Fold } from "../parts/fold.tsx";
import { Heading } from "../parts/heading.tsx";
import { visibleName } from "../text/foreign.ts";
import { Output } from "../text/output.tsx";
import type { ToolCall } from "./entries.ts";

interface ToolCallsProps {
  calls: readonly ToolCall[];
  /** Their agent, where that is not said around them. */
  source?: string;
}

export function ToolCalls({ calls, source }: ToolCallsProps) {
  return calls.map(({ call, result }) => (
    <Fold
      key={call.id}
      icon="tool"
      source={source}
      failed={result?.is_error === true}
      title={
        <>
          <code>{visibleName(call.name)}</code>
          <span className="brief">{brief(call.arguments)}</span>
          {result && (
            <span className="brief result">{visibleName(beginningOf(result.content, 80))}</span>
          )}
        </>
      }
    >
      <ToolCallBody call={call} result={result} />
    </Fold>
  ));
}

/** The arguments and the result of a tool call. */
export function ToolCallBody({ call, result }: ToolCall) {
  return (
    <>
      {call.arguments !== "" && (
        <>
          <Heading>Arguments</Heading>
          <Output text={call.arguments} />
        </>
      )}
      <Heading>{result?.is_error === true ? "Error" : "Result"}</Heading>
      {result === undefined ? (
        <p className="muted">No result yet.</p>
      ) : (
        <Output text={result.content} />
      )}
    </>
  );
}

/** The arguments, shortened. */
function brief(json: string): string {
  const text = visibleName(beginningOf(json, 200)).replaceAll(/[{}"]/g, "").trim();
  return text.length > 60 ? `${beginningOf(text, 60)}…` : text;
}
