import type { Message } from "troupe/client";
import { Fold } from "../parts/fold.tsx";
import { Name } from "../parts/name.tsx";
import { CodeBlock } from "../text/code-block.tsx";
import { imageAddress } from "../text/foreign.ts";
import { LongText } from "../text/long-text.tsx";
import { Markdown } from "../text/markdown.tsx";
import { Thinking } from "../text/thinking.tsx";
import { WrittenFiles } from "./written-files.tsx";

/** What happens between messages, and is shown smaller. */
export function isEvent({ type }: Message): boolean {
  return type.endsWith("Event");
}

interface MessageBodyProps {
  message: Message;
  /** Whether it says what code has printed, which is no Markdown. */
  printed?: boolean;
}

/** What a message or an event says. */
export function MessageBody({ message, printed = false }: MessageBodyProps) {
  switch (message.type) {
    case "TextMessage":
    case "StopMessage":
    case "ToolCallSummaryMessage":
      return (
        <>
          {printed ? (
            <LongText text={message.content} />
          ) : (
            <Thinking text={message.content} source={message.source} />
          )}
          <WrittenFiles metadata={message.metadata} />
        </>
      );
    case "MultiModalMessage":
      return message.content.map((part, index) =>
        typeof part === "string" ? (
          <Markdown key={index} text={part} />
        ) : (
          <Picture key={index} data={part.data} />
        ),
      );
    case "HandoffMessage":
      return (
        <>
          <p className="handoff">
            Hands over to <Name name={message.target} />
          </p>
          <Markdown text={message.content} />
        </>
      );
    case "ThoughtEvent":
      return (
        <Fold icon="thought" title="Thought" source={message.source}>
          <Markdown text={message.content} />
        </Fold>
      );
    case "MemoryQueryEvent":
      return (
        <Fold icon="thought" title={`${message.content.length} memories`} source={message.source}>
          <CodeBlock code={JSON.stringify(message.content, null, 2)} language="json" />
        </Fold>
      );
    case "CodeGenerationEvent":
      return (
        <Fold icon="code" title="Wrote code" source={message.source} open>
          {message.code_blocks.map(({ code, language }, index) => (
            <CodeBlock key={index} code={code} language={language} />
          ))}
        </Fold>
      );
    case "CodeExecutionEvent": {
      const { exit_code, output } = message.result;
      return (
        <Fold
          icon="code"
          title={exit_code === 0 ? "Ran code" : `Ran code: exit code ${exit_code}`}
          source={message.source}
          failed={exit_code !== 0}
          open
        >
          <LongText text={output} />
          <WrittenFiles metadata={message.metadata} />
        </Fold>
      );
    }
    case "SelectSpeakerEvent":
      return (
        <p className="line">
          Next:{" "}
          {message.content.map((name) => (
            <Name key={name} name={name} />
          ))}
        </p>
      );
    case "SelectorEvent":
      return (
        <Fold icon="people" title="Selection" source={message.source}>
          <Markdown text={message.content} />
        </Fold>
      );
    default:
      return <CodeBlock code={JSON.stringify(message.content, null, 2)} language="json" />;
  }
}

function Picture({ data }: { data: string }) {
  const address = imageAddress(data);
  if (address === undefined) return <p className="muted">An image of an unknown kind</p>;
  return <img className="picture" src={address} alt="Attached to this message" />;
}
