import type { Endpoint } from "../endpoint.ts";
import type { Services } from "../services.ts";
import { runEndpoints } from "./runs.ts";
import { streamEndpoints } from "./streams.ts";
import { teamEndpoints } from "./teams.ts";

/** What a conversation needs: teams, runs and their streams. */
export function endpoints(services: Services): Endpoint[] {
  return [...teamEndpoints(services), ...runEndpoints(services), ...streamEndpoints()];
}
