/** A JSON object whose fields are not known. */
export type Fields = Readonly<Record<string, unknown>>;

/** The result of a tool. */
export interface ToolAnswer {
  content?: readonly { type: string; text?: string }[];
  structuredContent?: Fields;
  isError?: boolean;
  _meta?: Fields;
}

/** Calls tools of the server. */
export interface ToolCaller {
  /** @throws Error with the words of a tool that refuses */
  callTool(name: string, given: Fields): Promise<ToolAnswer>;
}

/** The texts of a result. */
export function wordsIn({ content = [] }: ToolAnswer): string {
  return content
    .map(({ text = "" }) => text)
    .filter((text) => text !== "")
    .join("\n");
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
