/** The schemas of the OpenAPI document that answers refer to. */
export type SchemaName =
  | "Team"
  | "Run"
  | "RunPage"
  | "MessagePage"
  | "HumanRequests"
  | "State"
  | "Templates"
  | "Components"
  | "Valid"
  | "Health"
  | "OpenApi"
  | "Problem";
