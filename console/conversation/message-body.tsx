import type { Message } from "troupe/client";
import { useBeside } from "../parts/beside.ts";
import { Fold } from "../parts/fold.tsx";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { CodeBlock } from "../text/code-block.tsx";
import { imageAddress, visibleName } from "../text/foreign.ts";
import { JsonValue, jsonIn } from "../text/json-value.tsx";
import { Markdown } from "../text/markdown.tsx";
import { Printed } from "../text/output.tsx";
import { Thinking, Thought } from "../text/thinking.tsx";
import { Citations } from "./citations.tsx";
import { WrittenFiles } from "./written-files.tsx";

interface MessageBodyProps {
  message: Message;
  /** True for output of code, which is not Markdown. */
  printed?: boolean;
  /** True if it is shown in a card of its agent. */
  inCard?: boolean;
}

/** The content of a message or an event, with what it cites. */
export function MessageBody(props: MessageBodyProps) {
  return (
    <>
      <Content {...props} />
      <Citations metadata={props.message.metadata} />
    </>
  );
}

function Content({ message, printed = false, inCard = false }: MessageBodyProps) {
  const source = inCard ? undefined : message.source;
  switch (message.type) {
    case "TextMessage":
    case "StopMessage":
    case "ToolCallSummaryMessage":
      return (
        <>
          {printed ? (
            <Printed text={message.content} />
          ) : jsonIn(message.content) !== undefined ? (
            <JsonValue value={jsonIn(message.content)} />
          ) : (
            <Thinking text={message.content} source={source} />
          )}
          <WrittenFiles metadata={message.metadata} />
        </>
      );
    case "MultiModalMessage":
      return message.content.map((part, index) =>
        typeof part === "string" ? (
          <Markdown key={index} text={part} />
        ) : "media_type" in part ? (
          <AttachedFile key={index} file={part} />
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
      return <Thought text={message.content} source={source} />;
    case "MemoryQueryEvent":
      return (
        <Fold icon="thought" title={`${message.content.length} memories`} source={source}>
          <JsonValue value={message.content} />
        </Fold>
      );
    case "CodeGenerationEvent":
      return (
        <Fold icon="code" title="Wrote code" source={source} open>
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
          source={source}
          failed={exit_code !== 0}
          open
        >
          <Printed text={output} exitCode={exit_code} />
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
        <Fold icon="people" title="Selection" source={source}>
          <Markdown text={message.content} />
        </Fold>
      );
    default:
      return <JsonValue value={message.content} />;
  }
}

function Picture({ data }: { data: string }) {
  const beside = useBeside();
  const address = imageAddress(data);
  if (address === undefined) return <p className="muted">An image in an unknown format</p>;
  const image = <img className="picture" src={address} alt="Attached to this message" />;
  if (beside === undefined) return image;
  return (
    <button
      className="picture-button"
      type="button"
      title="Open beside the conversation"
      onClick={() => beside({ title: "Image", content: image })}
    >
      {image}
    </button>
  );
}

/** A file as a download. The browser does not show its content. */
function AttachedFile({ file }: { file: { data: string; name: string; media_type: string } }) {
  const name = visibleName(file.name);
  return (
    <a
      className="chip"
      href={`data:application/octet-stream;base64,${file.data}`}
      download={name}
      title={`${name}, ${file.media_type}`}
    >
      <Icon name="file" />
      {name}
    </a>
  );
}
