/** A JSON Schema, of which the fuzzer knows what the documents use. */
export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  prefixItems?: Schema[];
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  schema: Schema;
}

/** An operation of the OpenAPI document. */
export interface Operation {
  method: string;
  /** With its parameters in braces. */
  path: string;
  parameters: Parameter[];
  body: Schema | undefined;
  /** The statuses that the document names. */
  statuses: ReadonlySet<number>;
  /** The media types of errors that are not problem documents, by status. */
  foreign: ReadonlyMap<number, string>;
  /** Whether the operator's key is needed. */
  operator: boolean;
}

interface OpenApiDocument {
  paths: Record<
    string,
    Record<
      string,
      {
        description?: string;
        parameters: Parameter[];
        requestBody?: { content: { "application/json"?: { schema: Schema } } };
        responses: Record<string, { content?: object }>;
      }
    >
  >;
}

/** The operations of an OpenAPI document. */
export function operationsOf(document: unknown): Operation[] {
  return Object.entries((document as OpenApiDocument).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { description, parameters, requestBody, responses }]) => ({
        method: method.toUpperCase(),
        path,
        parameters,
        // Other bodies are files, which have no schema.
        body: requestBody?.content["application/json"]?.schema,
        statuses: new Set(Object.keys(responses).map(Number)),
        foreign: new Map(
          Object.entries(responses).flatMap(([status, { content = {} }]) =>
            Number(status) < 400
              ? []
              : Object.keys(content).map((media) => [Number(status), media] as const),
          ),
        ),
        operator: description === "The operator's key.",
      }),
    ),
  );
}
