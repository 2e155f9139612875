import * as z from "zod";

/** A JSON Schema, or another object of an OpenAPI document. */
export type Described = Record<string, unknown>;

/** The operation that a document describes. */
interface OperationKey {
  method: string;
  /** In Hono's notation: `/v1/teams/:team`, `/v1/teams/:team/files/:path{.+}`. */
  path: string;
}

export interface DocumentParts<Endpoint extends OperationKey> {
  title: string;
  description: string;
  version: string;
  tags?: readonly string[];
  endpoints: readonly Endpoint[];
  /** Describes one operation. */
  operation: (endpoint: Endpoint) => Described;
  /** The schemas that operations name, `Problem` among them. */
  schemas: Described;
  /** Why a problem has its status: each can be named by an operation as {@link problemRef}. */
  reasons: Readonly<Record<number, string>>;
}

/** A parameter of a path: its name, and the pattern of one that has its own. */
export const PARAMETER = /(?<=\/):(\w+)(\{.*?\})?/g;

/** The OpenAPI 3.1 document of an API whose credential is a bearer key. */
export function documentOf<Endpoint extends OperationKey>(
  parts: DocumentParts<Endpoint>,
): Described {
  const { title, description, version, tags, endpoints, operation, schemas, reasons } = parts;
  const paths: Record<string, Described> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(PARAMETER, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint) };
  }
  return {
    openapi: "3.1.1",
    info: { title, version, description, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    ...(tags && { tags: tags.map((name) => ({ name })) }),
    paths,
    components: {
      schemas,
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      responses: Object.fromEntries(
        Object.entries(reasons).map(([status, reason]) => [
          `Problem${status}`,
          {
            description: reason,
            content: { "application/problem+json": { schema: ref("Problem") } },
          },
        ]),
      ),
    },
  };
}

/** A schema of the document by its name. */
export function ref(name: string): Described {
  return { $ref: `#/components/schemas/${name}` };
}

/** The response of all problems with a status. */
export function problemRef(status: number): Described {
  return { $ref: `#/components/responses/Problem${status}` };
}

/** The JSON Schema of what a client sends. */
export function inputSchema(schema: z.ZodType): Described {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}

/** The parameters of a query string. */
export function queryParameters(query: z.ZodObject | undefined): Described[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = inputSchema(schema as z.ZodType);
    return { name, in: "query", ...(description !== undefined && { description }), schema: rest };
  });
}
