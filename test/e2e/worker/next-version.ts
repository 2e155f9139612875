// The Worker of a version to come, whose build has a migration more for each class of objects (test/support/two-versions.ts).
export { default, MemoryObject, TeamObject, TenantObject } from "troupe/worker";
