import type { Kind } from "./kind.ts";
import { collectionKind, documentKind, memoryKind } from "./memory-kinds.ts";
import { teamKind } from "./team-kind.ts";
import { connectionsKind, keysKind, skillKind, tenantKind, webhookKind } from "./tenant-kinds.ts";

/** All kinds in the order of a restore: what components name comes before teams, what names teams after them. */
export const KINDS: readonly Kind[] = [
  tenantKind,
  skillKind,
  collectionKind,
  documentKind,
  memoryKind,
  teamKind,
  webhookKind,
  keysKind,
  connectionsKind,
];
