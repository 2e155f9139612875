import { type Issue, TroupeError } from "../../core/errors.ts";
import { listIssues } from "../../core/issues.ts";
import { isJsonObject, type Json, type JsonObject, parsedJson } from "../../core/json.ts";
import type { DatasetItem, GivenItem } from "./item.ts";

/** The formats of files with items: Troupe's own, OpenAI's open-source evals, Mastra's datasets, HumanEval. */
export const DATA_FORMATS = ["jsonl", "openai-evals", "mastra", "human-eval"] as const;
export type DataFormat = (typeof DATA_FORMATS)[number];

interface Format {
  /** @throws Error that says what the row lacks */
  read(row: JsonObject): GivenItem;
  write(item: GivenItem): JsonObject;
}

const FORMATS: Readonly<Record<DataFormat, Format>> = {
  jsonl: {
    // The item is checked where it is used.
    read: (row) => row,
    write: (item) => ({ ...(item as unknown as JsonObject) }),
  },
  "openai-evals": {
    read({ input, ideal, id, ...metadata }) {
      return given({
        id,
        task: taskOf(input, "input"),
        expected: ideal,
        metadata: metadata["metadata"] ?? metadata,
      });
    },
    write({ id, task, expected, metadata }) {
      return given({ id, input: chatOf(task), ideal: expected, metadata }) as unknown as JsonObject;
    },
  },
  mastra: {
    read({ id, input, groundTruth, metadata }) {
      // Other inputs of workflows become their JSON.
      const isTask = typeof input === "string" || Array.isArray(input) || isMessages(input);
      const task = isTask ? taskOf(input, "input") : JSON.stringify(input);
      if (input === undefined) throw new Error("input: is missing");
      return given({ id, task, expected: groundTruth, metadata });
    },
    write({ id, task, expected, metadata }) {
      const input = typeof task === "string" ? task : { messages: chatOf(task) };
      return given({ id, input, groundTruth: expected, metadata }) as unknown as JsonObject;
    },
  },
  "human-eval": {
    read({ task_id, prompt, test, canonical_solution, entry_point }) {
      const textOf = (name: string, value: Json | undefined): string => {
        if (typeof value === "string") return value;
        throw new Error(`${name}: must be a text`);
      };
      const program = {
        prompt: textOf("prompt", prompt),
        test: textOf("test", test),
        entry_point: textOf("entry_point", entry_point),
      };
      return given({
        id: task_id,
        task: `Complete this function in Python. Answer with the whole function in one code block.\n\n${program.prompt}`,
        expected: canonical_solution,
        metadata: program,
      });
    },
    write({ id, expected, metadata = {} }) {
      const { prompt, test, entry_point } = metadata;
      if (test === undefined)
        throw new Error("metadata.test: is missing; only programming tasks have it");
      return given({
        task_id: id,
        prompt,
        test,
        canonical_solution: expected,
        entry_point,
      }) as unknown as JsonObject;
    },
  },
};

/**
 * Reads items: JSON lines, or one JSON list.
 *
 * @throws TroupeError `invalid_dataset` that names each line that is wrong
 */
export function importItems(format: DataFormat, text: string): GivenItem[] {
  const issues: Issue[] = [];
  const items = rowsOf(text).flatMap(({ place, row }) => {
    if (!isJsonObject(row)) {
      issues.push({ path: place, message: "must be a JSON object" });
      return [];
    }
    try {
      return FORMATS[format].read(row);
    } catch (error) {
      issues.push({ path: place, message: (error as Error).message });
      return [];
    }
  });
  if (issues.length === 0) return items;
  throw new TroupeError("invalid_dataset", `Invalid dataset: ${listIssues(issues)}`, { issues });
}

/**
 * Writes items as JSON lines.
 *
 * @throws Error for an item that the format cannot have
 */
export function exportItems(
  format: DataFormat,
  items: readonly (GivenItem | DatasetItem)[],
): string {
  return items.map((item) => `${JSON.stringify(FORMATS[format].write(item))}\n`).join("");
}

function rowsOf(text: string): { place: string; row: Json | undefined }[] {
  const whole = text.trimStart().startsWith("[") ? parsedJson(text) : undefined;
  if (Array.isArray(whole)) return whole.map((row, index) => ({ place: `item ${index + 1}`, row }));
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    return [{ place: `line ${index + 1}`, row: parsedJson(line) }];
  });
}

/** The task of a chat: the text of a single user's message, otherwise all messages, whose sources are their roles. */
function taskOf(input: Json | undefined, path: string): Json {
  if (typeof input === "string") return input;
  const messages = isMessages(input) ? input["messages"] : input;
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new Error(`${path}: must be a text or a list of messages`);
  }
  const chat = messages.map((message) => {
    const { role, content, name } = isJsonObject(message) ? message : {};
    if (typeof role !== "string" || typeof content !== "string") {
      throw new Error(`${path}: each message must have a role and a content that is a text`);
    }
    const source = typeof name === "string" ? name : role;
    return { type: "TextMessage", source, content };
  });
  const [first] = chat;
  return chat.length === 1 && first?.source === "user" ? first.content : chat;
}

function isMessages(input: Json | undefined): input is JsonObject {
  return isJsonObject(input) && "messages" in input;
}

const ROLES = ["system", "user", "assistant"];

function chatOf(task: Json | undefined): Json {
  const messages = Array.isArray(task) ? task : [task ?? ""];
  return messages.map((message) => {
    if (!isJsonObject(message)) return { role: "user", content: message };
    const { source, content = "" } = message;
    const role = ROLES.find((one) => one === source);
    return role === undefined
      ? { role: "user", content, ...(source !== undefined && { name: source }) }
      : { role, content };
  });
}

/** An object without what is missing. */
function given(fields: { [name: string]: Json | undefined }): GivenItem {
  const present = Object.entries(fields).filter(([, value]) => {
    const isEmpty = isJsonObject(value) && Object.keys(value).length === 0;
    return value !== undefined && value !== null && !isEmpty;
  });
  return Object.fromEntries(present) as GivenItem;
}

/** Runs the program of an answer with the test of a HumanEval task. */
export const HUMAN_EVAL_SCORER = {
  name: "passes",
  provider: "troupe.scorers.PythonScorer",
  config: {
    timeout: 30,
    source_code: `import re

def score(output, item):
    task = item["metadata"]
    name = task["entry_point"]
    blocks = re.findall(r"\`\`\`(?:python)?\\n(.*?)\`\`\`", output, re.S)
    code = "\\n".join(blocks) or output
    if f"def {name}" in code:
        # The imports and helpers of the task come first.
        code = task["prompt"].split(f"def {name}")[0] + "\\n" + code
    else:
        code = task["prompt"] + code
    try:
        exec(code + "\\n" + task["test"] + f"\\ncheck({name})\\n", {"__name__": "task"})
    except BaseException as error:
        return {"score": 0, "reason": type(error).__name__ + ": " + str(error)}
    return 1
`,
  },
};
