import type { Endpoint } from "../endpoint.ts";
import type { Services } from "../services.ts";
import { directoryEndpoints } from "./directory.ts";
import { fileEndpoints } from "./files.ts";
import { statePartEndpoints } from "./state-parts.ts";
import { keyEndpoints } from "./keys.ts";
import { runActionEndpoints } from "./run-actions.ts";
import { scheduleEndpoints } from "./schedules.ts";
import { serviceEndpoints } from "./service.ts";
import { tenantEndpoints } from "./tenants.ts";
import { webhookEndpoints } from "./webhooks.ts";

/** What most conversations do without. */
export function endpoints(services: Services): Endpoint[] {
  return [
    ...runActionEndpoints(services),
    ...scheduleEndpoints(services),
    ...fileEndpoints(services),
    ...statePartEndpoints(),
    ...directoryEndpoints(services),
    ...keyEndpoints(services),
    ...tenantEndpoints(services),
    ...webhookEndpoints(services),
    ...serviceEndpoints(services),
  ];
}
