import type { Message } from "troupe/client";

type Structured = Extract<Message["type"], `Structured${string}`>;
/** The contents of a message, without the fields that all have. */
type Contents = {
  [Type in Exclude<Message["type"], Structured>]: Omit<
    Extract<Message, { type: Type }>,
    "id" | "type" | "source" | "models_usage" | "created_at" | "metadata"
  >;
};

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const CALL = { id: "call", name: "look_up", arguments: '{"city":"Rome","days":[1,2,3]}' };
const RESULT = {
  name: "look_up",
  call_id: "call",
  content: "city,rent\nRome,5\nOslo,7\n",
  is_error: false,
};

/** Markdown of every kind. Its headings begin deep, and leave levels out. */
const MARKDOWN = `### Deep first

Text with **strong**, _weak_, ~~struck~~ and \`code\`, [a link](https://a.example) and $x^2$.

# Then the highest

##### And a deep one

> ## Quoted
> - one
>   1. two

- [x] done
- [ ] to do

| city | rent |
|---|--:|
| Rome | 5 |

| city | people |
|---|--:|
| Oslo | 7 |

\`\`\`python
if a >= 1:
    print("yes")
\`\`\`

$$\\int x\\,dx$$

---

![An image](https://a.example/x.png) <b>HTML</b>
`;

const CONTENTS: Contents = {
  TextMessage: { content: MARKDOWN },
  MultiModalMessage: {
    content: [
      "## What is this?",
      { data: PIXEL },
      { data: PIXEL, name: "notes.txt", media_type: "text/plain" },
    ],
  },
  StopMessage: { content: "#### Stop" },
  HandoffMessage: { content: "Your turn.", target: "editor", context: [] },
  ToolCallSummaryMessage: { content: "Rome: 5", tool_calls: [CALL], results: [RESULT] },
  ToolCallRequestEvent: { content: [CALL, { ...CALL, id: "failed" }] },
  ToolCallExecutionEvent: {
    content: [RESULT, { ...RESULT, call_id: "failed", content: "It broke.", is_error: true }],
  },
  CodeGenerationEvent: {
    retry_attempt: 0,
    content: "code",
    code_blocks: [{ code: "print(1 >= 0)", language: "python" }],
  },
  CodeExecutionEvent: { retry_attempt: 0, result: { exit_code: 1, output: "Traceback\n" } },
  UserInputRequestedEvent: { request_id: "asked", content: "" },
  MemoryQueryEvent: {
    content: [{ content: "They like the sea.", mime_type: "text/plain", metadata: {} }],
  },
  ModelClientStreamingChunkEvent: { content: "piece", full_message_id: null },
  ThoughtEvent: { content: "#### A thought\n\nAnd more." },
  SelectSpeakerEvent: { content: ["writer", "editor"] },
  SelectorEvent: { content: "### Who is next?" },
};

/** A message of every kind, the whole of it visible on a page. */
export function everyMessage(): object[] {
  const kinds: [string, object, string?][] = [
    ...Object.entries(CONTENTS).map(([type, contents]): [string, object] => [type, contents]),
    ["StructuredMessage[Rents]", { content: { city: "Rome", rents: [{ year: 1 }, { year: 2 }] } }],
    ["TextMessage", { content: '{"city":"Rome","tags":["a","b"]}' }],
    ["TextMessage", { content: "<think>#### Hm.</think>\n\n###### The answer" }],
    ["TextMessage", { content: "##### A question" }, "user"],
  ];
  return kinds.map(([type, contents, source = "writer"], index) => ({
    id: `message-${index}`,
    type,
    source,
    models_usage: { prompt_tokens: 5, completion_tokens: 2 },
    created_at: "2026-11-20T08:00:00.000Z",
    metadata:
      index === 0
        ? {
            files: JSON.stringify(["plot.csv"]),
            citations: JSON.stringify([
              { collection: "books", document: "sea.md", chunk: 3, heading: "Waves", page: null },
            ]),
          }
        : {},
    ...contents,
    seq: index + 1,
    turn: index + 1,
  }));
}
