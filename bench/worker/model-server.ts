import { createParser } from "eventsource-parser";

/** Asks the model server as an agent would, for a streamed reply. */
export function ask(
  upstream: string,
  model: string,
  messages: readonly unknown[],
): Promise<Response> {
  return fetch(`${upstream}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer bench" },
    body: JSON.stringify({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
}

/** The pieces of the reply's text, those together that arrived together. */
export async function* textsOf(answer: Response): AsyncIterable<string[]> {
  const decoder = new TextDecoder();
  let texts: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === "[DONE]") return;
      const chunk = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
      const content = chunk.choices[0]?.delta.content;
      if (content) texts.push(content);
    },
  });
  if (answer.body === null) throw new TypeError("the model server sent no body");
  for await (const bytes of answer.body) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (texts.length === 0) continue;
    const arrived = texts;
    texts = [];
    yield arrived;
  }
}
