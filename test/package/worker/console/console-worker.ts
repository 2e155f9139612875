// The ready service, with the console of the package.
export { default, TeamObject, TenantObject } from "troupe/worker";
