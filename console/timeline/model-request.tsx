import { sentenceOf } from "../parts/error-words.ts";
import { useCallback, useState, type ReactNode } from "react";
import { ApiError, type ModelRequest, type RunInfo, type TeamClient } from "troupe/client";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { bytesOf, counted, shortNumber } from "../parts/numbers.ts";
import { CodeBlock } from "../text/code-block.tsx";
import { printedJson } from "../text/printed-json.ts";
import { visibleName } from "../text/foreign.ts";
import { JsonValue } from "../text/json-value.tsx";
import { LongText } from "../text/long-text.tsx";
import type { TimelineStep } from "./steps.ts";

interface ModelRequestProps {
  step: TimelineStep;
  run: RunInfo;
  team: TeamClient;
  /** A number that changes when more may be recorded. */
  version: number;
}

/**
 * The messages sent to a model, the parts of its context, and its answer. For a failed attempt, the text that had arrived.
 */
export function ModelRequestDetails({ step, run, team, version }: ModelRequestProps) {
  const { span } = step;
  const isAttempt = span.kind === "attempt";
  const asked = (isAttempt ? step.parent?.span.span_id : span.span_id) ?? span.span_id;
  const load = useCallback(
    () => team.modelRequest(run.id, asked),
    [team, run.id, asked, span.status, version],
  );
  const { value: request, error } = useLoaded(load);
  if (error) {
    const isGone = error instanceof ApiError && [404, 410].includes(error.status);
    return isGone ? <p className="muted">{sentenceOf(error)}</p> : <Problem error={error} />;
  }
  if (request === undefined) {
    return (
      <p className="loading" role="status">
        Loading
      </p>
    );
  }
  const number = isAttempt ? Number(/(?<!\d)\d+$/.exec(span.name)?.[0]) : undefined;
  // The last attempt has the answer of the step.
  const failed = request.failed_attempts.find(({ attempt }) => attempt === number);
  if (failed === undefined) return <Request request={request} />;
  return (
    <div className="recorded">
      <FailedAttempt attempt={failed} />
    </div>
  );
}

const PARTS = { system: "System", memory: "Memory", history: "History", tools: "Tools" } as const;

function Request({ request }: { request: ModelRequest }) {
  const { messages, tools, parameters, body, reply, failed_attempts, cut_off } = request;
  return (
    <div className="recorded">
      <ContextBar context={request.context} />
      {MATCHES[String(request.matches) as keyof typeof MATCHES] !== "" && (
        <p className="muted">{MATCHES[String(request.matches) as keyof typeof MATCHES]}</p>
      )}
      {request.shortened && (
        <p className="muted">
          The request is too long to show in full: texts are cut after{" "}
          {counted(request.shortened.longest_text, "character")}
          {request.shortened.messages_left_out > 0 &&
            `, and the oldest ${counted(request.shortened.messages_left_out, "message")} left out`}
          .
        </p>
      )}
      <Part title={`Request: ${counted(messages.length, "message")}`}>
        <ol className="request-messages">
          {messages.map((message, index) => (
            <RequestMessage key={index} message={message} />
          ))}
        </ol>
      </Part>
      {tools.length > 0 && (
        <Part title={counted(tools.length, "tool")}>
          <JsonValue value={tools} />
        </Part>
      )}
      <Part title="Parameters">
        <JsonValue value={parameters} />
      </Part>
      {body && (
        <Part title={`Body for ${request.server_path ?? "the server"}`}>
          <CodeBlock code={printedJson(body)} language="json" />
        </Part>
      )}
      {reply && (
        <Part title="Raw reply">
          <JsonValue value={reply} />
        </Part>
      )}
      {request.error && (
        <p className="problem-text">
          <code>{visibleName(request.error.type)}</code>: {visibleName(request.error.message)}
        </p>
      )}
      {cut_off !== null && <Arrived text={cut_off} />}
      {failed_attempts.map((attempt) => (
        <Part key={attempt.attempt} title={`Attempt ${attempt.attempt} (failed)`}>
          <FailedAttempt attempt={attempt} />
        </Part>
      ))}
    </div>
  );
}

const MATCHES = {
  true: "",
  null: "Requests are not stored. This one was rebuilt while its answer is awaited.",
  false:
    "Requests are not stored. This one was rebuilt and differs from the one that was sent, because the server's code or a memory has changed.",
};

/** The parts of the context, as a bar and in words. */
function ContextBar({ context }: Pick<ModelRequest, "context">) {
  const { parts, total, prompt_tokens, window, method } = context;
  const visible = parts.filter(({ tokens }) => tokens > 0);
  return (
    <div className="context-fill">
      <h4>Context</h4>
      <div className="context-bar" aria-hidden="true">
        {visible.map(({ part, tokens }) => (
          <span key={part} data-part={part} style={{ flexGrow: tokens }} />
        ))}
      </div>
      <ul>
        {visible.map(({ part, tokens }) => (
          <li key={part} data-part={part}>
            {PARTS[part]} ~{shortNumber(tokens)}
          </li>
        ))}
      </ul>
      <p className="muted">
        About {counted(total, "token")}, estimated{" "}
        {method === "tokenizer" ? "with a tokenizer" : "by length"}
        {prompt_tokens !== null && `; the server counted ${shortNumber(prompt_tokens)}`}
        {window !== null && `; the window has ${shortNumber(window)}`}.
      </p>
    </div>
  );
}

/** A fold whose contents are made when it is opened. */
function Part({ title, children }: { title: ReactNode; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {open && children}
    </details>
  );
}

const ROLES: Readonly<Record<string, string | undefined>> = {
  SystemMessage: "System",
  UserMessage: "User",
  AssistantMessage: "Assistant",
  FunctionExecutionResultMessage: "Tool results",
};

function RequestMessage({ message }: { message: Record<string, unknown> }) {
  const { type, content, source } = message;
  const thought = message["thought"];
  return (
    <li>
      <strong>
        {ROLES[String(type)] ?? visibleName(String(type))}
        {typeof source === "string" && (
          <>
            {" "}
            <Name name={source} />
          </>
        )}
      </strong>
      {typeof thought === "string" && <LongText text={thought} />}
      {typeof content === "string" ? (
        <LongText text={content} />
      ) : (
        Array.isArray(content) &&
        content.map((part: unknown, index) => <ContentPart key={index} part={part} />)
      )}
    </li>
  );
}

function ContentPart({ part }: { part: unknown }) {
  if (typeof part === "string") return <LongText text={part} />;
  const data = (part as { data?: unknown }).data;
  // Three bytes are four characters of base64.
  if (typeof data === "string")
    return <p className="muted">Image or file, {bytesOf(Math.floor((data.length * 3) / 4))}</p>;
  return <JsonValue value={part} />;
}

function FailedAttempt({ attempt }: { attempt: ModelRequest["failed_attempts"][number] }) {
  const { error, text } = attempt;
  return (
    <>
      <p>
        <code>{visibleName(error.type)}</code>
        {error.message !== null && `: ${visibleName(error.message)}`}
      </p>
      {text === null ? <p className="muted">No partial answer.</p> : <Arrived text={text} />}
    </>
  );
}

function Arrived({ text }: { text: string }) {
  return (
    <>
      <h4>Partial answer</h4>
      <LongText text={text} />
    </>
  );
}
