import { kindOf, shortKindOf } from "../teams/kinds.ts";
import { classOf, configOf, fieldsOf, listOf, textOf } from "./component-json.ts";

/** A feature of a participant, shown as a small sign. */
export interface Mark {
  kind: "model" | "tools" | "memory" | "code" | "human";
  /** The text beside the sign. */
  label: string;
  /** The full text, on hover and for screen readers. */
  text: string;
}

const NAMES_SHOWN = 12;

/** The features of a participant besides its name. */
export function marksOf(part: unknown): Mark[] {
  const config = configOf(part);
  const wrapped = config["wrapped_agent"];
  if (wrapped != null) return marksOf(wrapped);
  const marks: Mark[] = [];
  const model = modelOf(config["model_client"]);
  if (model !== undefined) marks.push({ kind: "model", label: model, text: `Model: ${model}` });
  const tools = [...listOf(config["tools"]), ...workbenches(config["workbench"])];
  if (tools.length > 0) {
    const names = tools.map((tool) => textOf(configOf(tool)["name"]) || kindOf(classOf(tool)));
    const visible = names.slice(0, NAMES_SHOWN).join(", ");
    const text = `Tools: ${visible}${names.length > NAMES_SHOWN ? ", …" : ""}`;
    marks.push({ kind: "tools", label: `${tools.length}`, text });
  }
  const memories = listOf(config["memory"]);
  if (memories.length > 0) {
    const names = memories.map((memory) => kindOf(classOf(memory)));
    marks.push({
      kind: "memory",
      label: `${memories.length}`,
      text: `Memory: ${names.join(", ")}`,
    });
  }
  if (config["code_executor"] !== undefined) {
    marks.push({ kind: "code", label: "runs code", text: "Runs code" });
  }
  if (classOf(part) === "UserProxyAgent") {
    marks.push({ kind: "human", label: "human", text: "A human answers" });
  }
  return marks;
}

/** The tools of a workbench, or the workbench itself if its tools are unknown. */
function workbenches(input: unknown): unknown[] {
  const all = Array.isArray(input) ? input : input == null ? [] : [input];
  return all.flatMap((bench: unknown) => {
    const { tools } = configOf(bench);
    return Array.isArray(tools) ? (tools as unknown[]) : [fieldsOf(bench)];
  });
}

function modelOf(client: unknown): string | undefined {
  if (client == null) return undefined;
  const { model, client: cached } = configOf(client);
  return textOf(model) || modelOf(cached) || shortKindOf(classOf(client));
}
