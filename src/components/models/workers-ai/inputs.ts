import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";

/**
 * The inputs of Workers AI for the body of a chat completion request.
 *
 * @param isNative whether the model has the older interface of Workers AI
 */
export function inputsFrom(body: JsonObject, isNative: boolean): JsonObject {
  const { model: _, stream_options, ...inputs } = body;
  inputs["messages"] = list(inputs["messages"]).map(withContent);
  chooseTool(inputs);
  if (isNative) {
    const format = nativeFormat(inputs["response_format"]);
    if (format !== undefined) inputs["response_format"] = format;
  } else if (stream_options !== undefined) inputs["stream_options"] = stream_options;
  return inputs;
}

/** The binding refuses messages whose content is null. */
function withContent(message: Json): Json {
  return isJsonObject(message) && message["content"] === null
    ? { ...message, content: "" }
    : message;
}

/** The service cannot force a tool by name, so the forced tool is the only one in the request. */
function chooseTool(inputs: JsonObject): void {
  const { tool_choice: choice, tools } = inputs;
  if (!isJsonObject(choice) || !isJsonObject(choice["function"])) return;
  const { name } = choice["function"];
  inputs["tools"] = list(tools).filter(
    (tool) =>
      isJsonObject(tool) && isJsonObject(tool["function"]) && tool["function"]["name"] === name,
  );
  inputs["tool_choice"] = "required";
}

/** The older interface takes the JSON Schema directly; undefined for formats that are the same in both. */
function nativeFormat(format: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(format) || !isJsonObject(format["json_schema"])) return undefined;
  return { type: "json_schema", json_schema: format["json_schema"]["schema"] ?? {} };
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
