import * as z from "zod";
import { TAGS } from "../../../contract/commands/command.ts";
import { type Endpoint, json } from "../endpoint/endpoint.ts";
import { type Described, documentOf } from "../../../http/openapi.ts";
import { operation, REASONS } from "./operation.ts";
import { componentSchemas } from "./schemas.ts";

/** The operation that describes the others and itself. @param all gives them */
export function openApiEndpoint(
  path: string,
  all: () => Promise<readonly Endpoint[]>,
  version: string,
): Endpoint {
  let document: unknown;
  return {
    method: "get",
    path,
    id: "openApi",
    summary: "This description",
    tag: "Service",
    scope: "teams:read",
    answers: {
      200: {
        description: "OpenAPI 3.1.",
        schema: { OpenApi: z.looseObject({ openapi: z.string() }) },
      },
    },
    async handle() {
      document ??= openApiDocument(await all(), version);
      return json(document);
    },
  };
}

/** The OpenAPI document of these endpoints. */
function openApiDocument(endpoints: readonly Endpoint[], version: string): Described {
  return documentOf({
    title: "Troupe",
    description:
      "Teams of AI agents at the edge. An accepted run always reaches exactly one outcome. Bodies are JSON in snake_case; unknown fields are refused.",
    version,
    tags: TAGS,
    endpoints,
    operation,
    schemas: componentSchemas(endpoints),
    reasons: REASONS,
  });
}
