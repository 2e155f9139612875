export {
  type AgentSubscriber,
  buildResumeArray,
  HttpAgent,
  type RunAgentParameters,
} from "@ag-ui/client";
export { EventSchema } from "@ag-ui/core/schemas";
// The client before 1.0.
export { HttpAgent as OldHttpAgent } from "ag-ui-client-0";
// The oldest that is held against this server.
export { HttpAgent as OldestHttpAgent } from "ag-ui-client-35";
