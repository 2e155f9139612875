import * as z from "zod";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
  withoutNulls,
} from "../component/component.ts";
import { MessageError, ValueError } from "../errors.ts";
import { listIssues } from "../issues.ts";
import { jsonObjectSchema } from "../json-object.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { complete, prune } from "../json-schema/arrange.ts";
import { isNumberIn, requireFormatFits } from "../json-schema/check-format.ts";
import { JsonSchema } from "../json-schema/json-schema.ts";
import type { RequestUsage } from "../models/request-usage.ts";
import { formatNotes } from "../text/check-format.ts";
import { readJson } from "../text/model-json.ts";
import { checkedForCode } from "../json-schema/exact-numbers.ts";
import { formatPython } from "../text/format.ts";
import type { StructuredMessage } from "./chat-messages.ts";
import { createMessage, type MessageOrigin } from "./create.ts";
import { aText, checkOptions, type OptionsSchema } from "../options/options.ts";

const configSchema = z.object({
  json_schema: jsonObjectSchema,
  format_string: z.string().nullish(),
  content_model_name: z.string().min(1),
});

export interface StructuredMessageFactoryOptions {
  /** JSON Schema of the content, an object. */
  jsonSchema: JsonObject;
  /** The template of the content's text, with the syntax of Python's `str.format`; JSON by default. */
  formatString?: string | null | undefined;
  /** Default `GeneratedContentModel`. */
  contentModelName?: string | null | undefined;
}

const optionsSchema: OptionsSchema<StructuredMessageFactoryOptions> = z.object({
  jsonSchema: jsonObjectSchema,
  formatString: aText.nullish(),
  contentModelName: aText.nullish(),
});

/** The caller's fields of a structured message. */
export interface StructuredMessageFields {
  source: string;
  content: Json;
  id?: string | undefined;
  models_usage?: RequestUsage | null | undefined;
  /** False makes a message that is shown as JSON. Default true. */
  withFormat?: boolean | undefined;
}

/** Makes and checks messages whose content follows a JSON Schema (AutoGen `StructuredMessageFactory`). */
export class StructuredMessageFactory implements Component {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.messages.StructuredMessageFactory",
    componentType: "structured_message",
    role: "structured_message",
    version: 1,
    configSchema,
    fromConfig: (config) =>
      new StructuredMessageFactory({
        jsonSchema: config.json_schema,
        formatString: config.format_string,
        contentModelName: config.content_model_name,
      }),
    notes: ({ format_string, json_schema }) =>
      formatNotes("config", { format_string }, (path) => isNumberIn(json_schema, path)),
  });

  readonly definition = StructuredMessageFactory.component;
  readonly contentModelName: string;
  readonly formatString: string | null;
  /** The `type` of its messages. */
  readonly messageType: StructuredMessage["type"];
  /** The output format to request from a model. */
  readonly jsonOutput: { name: string; schema: JsonObject };
  readonly #schema: JsonSchema;

  /** @throws ValueError when the schema cannot be used, or the format names a field that is not in it */
  constructor(options: StructuredMessageFactoryOptions) {
    checkOptions(optionsSchema, options, "StructuredMessageFactory");
    const { jsonSchema, formatString, contentModelName } = options;
    if (Object.keys(jsonSchema).length === 0) {
      throw new ValueError("json_schema must describe an object, got an empty schema");
    }
    this.contentModelName = contentModelName ?? "GeneratedContentModel";
    this.formatString = formatString ?? null;
    this.messageType = `StructuredMessage[${this.contentModelName}]`;
    this.#schema = new JsonSchema(jsonSchema);
    if (this.formatString !== null) {
      requireFormatFits(this.formatString, jsonSchema, "format_string");
    }
    this.jsonOutput = { name: this.contentModelName, schema: jsonSchema };
  }

  /**
   * Content in the form that messages have: checked, in the order of the schema, with defaults filled in. Messages cross isolates and
   * reach programs in JavaScript, so that an integer beyond 2^53 is a text in them where the schema takes one, and an error elsewhere.
   *
   * @throws MessageError naming every field that is wrong
   */
  content(value: Json): JsonObject {
    const { value: pruned, issues } = checkedForCode(prune(value, this.#schema), this.#schema);
    if (issues.length > 0) {
      throw new MessageError(
        `the content is not a ${this.contentModelName}: ${listIssues(issues)}`,
        {
          issues,
        },
      );
    }
    const content = complete(pruned, this.#schema);
    if (isJsonObject(content)) return content;
    const issue = { path: "", message: "must be a JSON object" };
    throw new MessageError(`the content of a message ${issue.message}`, { issues: [issue] });
  }

  /** Content from a model's answer, where it may stand {@link extractJson in other text}. @throws MessageError */
  parse(text: string): JsonObject {
    let refused: MessageError | undefined;
    const reading = readJson<JsonObject>(text, (value) => {
      try {
        return { value: this.content(value) };
      } catch (error) {
        if (!(error instanceof MessageError)) throw error;
        refused = error;
        return { fault: error.message };
      }
    });
    if ("value" in reading) return reading.value;
    const { fault: message } = reading;
    if (refused?.message === message) throw refused;
    throw new MessageError(`the content is not a ${this.contentModelName}: ${message}`, {
      issues: [{ path: "", message }],
    });
  }

  /** @throws MessageError when the content does not fit; ValueError when the format does not suit it */
  create(origin: MessageOrigin, fields: StructuredMessageFields): StructuredMessage {
    const { withFormat = true, content, ...rest } = fields;
    const checked = this.content(content);
    const format_string = withFormat ? this.formatString : null;
    if (format_string !== null) formatPython(format_string, checked);
    return createMessage<StructuredMessage>(origin, {
      ...rest,
      content: checked,
      format_string,
      type: this.messageType,
    });
  }

  toConfig(): JsonObject {
    return withoutNulls({
      json_schema: this.#schema.schema,
      format_string: this.formatString,
      content_model_name: this.contentModelName,
    });
  }
}
