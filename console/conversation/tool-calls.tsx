import { Fold } from "../parts/fold.tsx";
import { CodeBlock } from "../text/code-block.tsx";
import { visibleName } from "../text/foreign.ts";
import { LongText } from "../text/long-text.tsx";
import type { ToolCall } from "./entries.ts";

interface ToolCallsProps {
  calls: readonly ToolCall[];
  source: string;
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
            <span className="brief result">{visibleName(result.content.slice(0, 80))}</span>
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
          <h4>Arguments</h4>
          <CodeBlock code={indented(call.arguments)} language="json" />
        </>
      )}
      <h4>{result?.is_error === true ? "Error" : "Result"}</h4>
      {result === undefined ? (
        <p className="muted">There is no result yet.</p>
      ) : (
        <LongText text={result.content} />
      )}
    </>
  );
}

/** The arguments in a few words. */
function brief(json: string): string {
  const text = visibleName(json.slice(0, 200)).replaceAll(/[{}"]/g, "").trim();
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
