import { ValueError } from "../../../core/errors.ts";
import { fittingName, toolNameMistakes } from "../../../core/tools/tool-name.ts";

/** @throws ValueError for a tool name that model APIs do not accept */
export function checkToolName(name: string): void {
  const [issue] = toolNameMistakes(name);
  if (issue !== undefined)
    throw new ValueError(`The tool name '${name}' is not allowed: it ${issue.message}`);
}

/** The marks of channels that models of the Harmony format write behind a name, and servers take for a part of it. */
const MARK = /<[|｜]/;

/** A tool name as a model wrote it, with the characters that the API would refuse later replaced. */
export function toolNameOf(name: string): string {
  const [unmarked = ""] = name.split(MARK, 1);
  return fittingName(unmarked.trim() || name);
}
