import OpenAI, { NotFoundError } from "openai";

/** Where a conversation is held. */
export interface Place {
  /** The origin of the service. */
  origin: string;
  apiKey: string;
  /** A team of one agent that writes. */
  model: string;
}

/** A conversation with a team by the unmodified client, with no more than its host has. */
export async function converse({ origin, apiKey, model }: Place): Promise<object> {
  const openai = new OpenAI({
    baseURL: `${origin}/openai/v1`,
    apiKey,
    maxRetries: 0,
    dangerouslyAllowBrowser: true,
  });
  const messages = [{ role: "user" as const, content: "Write." }];
  const whole = await openai.chat.completions.create({ model, messages });
  const stream = openai.chat.completions.stream({ model, messages });
  const deltas: string[] = [];
  stream.on("content", (delta) => deltas.push(delta));
  const content = await stream.finalContent();
  const response = await openai.responses.stream({ model, input: "Write." }).finalResponse();
  const again = await openai.responses.retrieve(response.id);
  const refused = await openai.models.retrieve("team:none").catch((error: unknown) => error);
  return {
    whole: whole.choices[0]?.message.content,
    content,
    pieces: deltas.length > 1,
    text: response.output_text,
    again: again.output_text,
    refused: refused instanceof NotFoundError ? refused.code : null,
  };
}
