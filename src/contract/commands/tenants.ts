import * as z from "zod";
import { listCursorParameter, pageSizeParameter } from "../query-parameters.ts";
import {
  putTenantSchema,
  recoverTeamSchema,
  tenantListSchema,
  tenantSchema,
} from "../tenant/tenant.ts";
import { versionWithComponentSchema } from "../team/version.ts";
import { command } from "./command.ts";

/** Tenants, for the operator. */
export const tenantCommands = {
  listTenants: command({
    method: "get",
    path: "/v1/tenants",
    summary: "All tenants, by id",
    tag: "Tenants",
    scope: "operator",
    query: (limits) =>
      z.strictObject({
        limit: pageSizeParameter(limits),
        cursor: listCursorParameter,
      }),
    answers: { 200: { description: "A page.", schema: { TenantList: tenantListSchema } } },
  }),

  putTenant: command({
    method: "put",
    path: "/v1/tenants/:tenant",
    summary: "Name a tenant and override its limits; creates a tenant that does not exist",
    tag: "Tenants",
    scope: "operator",
    body: putTenantSchema,
    answers: { 200: { description: "The tenant.", schema: { Tenant: tenantSchema } } },
  }),

  info: command({
    method: "get",
    path: "/v1/tenants/:tenant",
    id: "getTenant",
    summary: "A tenant, its limits in force and its usage",
    tag: "Tenants",
    scope: "operator",
    object: "tenant",
    answers: { 200: { description: "The tenant.", schema: { Tenant: tenantSchema } } },
    problems: [404],
  }),

  destroy: command({
    method: "delete",
    path: "/v1/tenants/:tenant",
    id: "deleteTenant",
    summary: "Delete all teams, keys and usage of a tenant; continues without further requests",
    tag: "Tenants",
    scope: "operator",
    object: "tenant",
    answers: { 202: { description: "It is being deleted; it is 404 from now on." } },
    problems: [404],
  }),

  recoverTeam: command({
    method: "post",
    path: "/v1/tenants/:tenant/restore",
    summary:
      "Return a team to its data of a moment in the last 30 days, by the recovery of Cloudflare. Its run of that moment continues",
    tag: "Tenants",
    scope: "operator",
    body: recoverTeamSchema,
    answers: { 202: { description: "The object of the team restarts with that data." } },
    problems: [404, 503],
  }),

  sealedVersion: command({
    method: "get",
    path: "/v1/tenants/:tenant/teams/:team/versions/:version",
    id: "getSealedVersion",
    summary:
      "A version of a team's component with its secrets as they are stored, sealed with SECRETS_KEY: for backups",
    tag: "Tenants",
    scope: "operator",
    answers: {
      200: {
        description: "The version.",
        schema: { VersionWithComponent: versionWithComponentSchema },
      },
    },
    problems: [404],
  }),
};
