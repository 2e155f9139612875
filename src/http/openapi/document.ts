import { type Endpoint, json } from "../endpoint.ts";
import { operation, PARAMETER, REASONS } from "./operation.ts";
import { componentSchemas, type Described, ref } from "./schemas.ts";

const TAGS: readonly Endpoint["tag"][] = [
  "Teams",
  "Runs",
  "Files",
  "Schedules",
  "Webhooks",
  "Keys",
  "Usage",
  "Tenants",
  "OpenAI",
  "AG-UI",
  "AI SDK",
  "A2A",
  "MCP",
  "Service",
];

/** The operation that describes the others and itself. */
export function openApiEndpoint(others: readonly Endpoint[], version: string): Endpoint {
  let document: unknown;
  const self: Endpoint = {
    method: "get",
    path: "/v1/openapi.json",
    id: "openApi",
    summary: "This description",
    tag: "Service",
    scope: "teams:read",
    answers: { 200: { description: "OpenAPI 3.1.", schema: "OpenApi" } },
    async handle() {
      document ??= openApiDocument([...others, self], version);
      return json(document);
    },
  };
  return self;
}

/** The OpenAPI 3.1 document of these endpoints. */
function openApiDocument(endpoints: readonly Endpoint[], version: string): Described {
  const paths: Record<string, Record<string, Described>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(PARAMETER, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint) };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Troupe",
      version,
      description:
        "Teams of AI agents at the edge. An accepted run always reaches exactly one outcome. Bodies are JSON in snake_case; unknown fields are refused.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    tags: TAGS.map((name) => ({
      name,
    })),
    paths,
    components: {
      schemas: componentSchemas(),
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      responses: Object.fromEntries(
        Object.entries(REASONS).map(([status, description]) => [
          `Problem${status}`,
          { description, content: { "application/problem+json": { schema: ref("Problem") } } },
        ]),
      ),
    },
  };
}
