import { ValueError } from "../../../core/errors.ts";

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** @throws ValueError for a tool name that model APIs do not accept */
export function checkToolName(name: string): void {
  if (!TOOL_NAME.test(name))
    throw new ValueError(
      `The tool name '${name}' is not allowed: use 1 to 64 letters, digits, '_' and '-'`,
    );
}

/** A tool name as a model wrote it, with the characters that the API would refuse later replaced. */
export function toolNameOf(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
}
