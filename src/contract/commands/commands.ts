import type { approvalCommands } from "./approvals.ts";
import type { collectionCommands } from "./collections.ts";
import type { connectionCommands } from "./connections.ts";
import type { directoryCommands } from "./directory.ts";
import type { fileCommands } from "./files.ts";
import type { healthCommands } from "./health.ts";
import type { keyCommands } from "./keys.ts";
import type { memoryCommands } from "./memories.ts";
import type { notifyCommands } from "./notify.ts";
import type { runCommands } from "./runs.ts";
import type { scheduleCommands } from "./schedules.ts";
import type { serviceCommands } from "./service.ts";
import type { skillCommands } from "./skills.ts";
import type { statePartCommands } from "./state-parts.ts";
import type { taskCommands } from "./tasks.ts";
import type { teamCommands } from "./teams.ts";
import type { teamToolCommands } from "./team-tools.ts";
import type { tenantCommands } from "./tenants.ts";
import type { triggerCommands } from "./triggers.ts";
import type { versionCommands } from "./versions.ts";
import type { webhookCommands } from "./webhooks.ts";

// Only types of the tables, so that their schemas are not loaded when an isolate starts.

/** The commands at the address of one team. */
export type TeamCommands = typeof approvalCommands &
  typeof fileCommands &
  typeof runCommands &
  typeof scheduleCommands &
  typeof statePartCommands &
  typeof taskCommands &
  typeof teamCommands &
  typeof versionCommands;

/** The commands on a tenant's resources and on tenants. */
export type TenantCommands = typeof collectionCommands &
  typeof connectionCommands &
  typeof directoryCommands &
  typeof keyCommands &
  typeof memoryCommands &
  typeof notifyCommands &
  typeof skillCommands &
  typeof teamToolCommands &
  typeof tenantCommands &
  typeof triggerCommands &
  typeof webhookCommands;

/** The commands on the deployment. */
export type ServiceCommands = typeof healthCommands & typeof serviceCommands;
