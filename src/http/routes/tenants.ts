import * as z from "zod";
import { isTenantId } from "../../auth/principal.ts";
import { integerParameter } from "../../contract/query-parameters.ts";
import { putTenantSchema } from "../../contract/tenant.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { invalid, unwrap } from "../problem.ts";
import { type Services, tenantOf, tenantsOf } from "../services.ts";
import { defaultPage } from "./teams.ts";

/** Tenants, for the operator. */
export function tenantEndpoints(services: Services): Endpoint[] {
  const { limits } = services;
  const tag = "Tenants" as const;
  const scope = "operator" as const;

  return [
    endpoint({
      method: "get",
      path: "/v1/tenants",
      id: "listTenants",
      summary: "All tenants, by id",
      tag,
      scope,
      query: z.strictObject({
        limit: integerParameter(1, limits.max_page_size).optional(),
        cursor: z.string().max(500).optional(),
      }),
      answers: { 200: { description: "A page.", schema: "TenantList" } },
      async handle({ query: { cursor, limit = defaultPage(limits.max_page_size) } }) {
        return json(
          unwrap(
            await tenantsOf(services).list({ limit, ...(cursor !== undefined && { cursor }) }),
          ),
        );
      },
    }),

    endpoint({
      method: "put",
      path: "/v1/tenants/:tenant",
      id: "putTenant",
      summary: "Name a tenant and override its limits; creates it when there is none",
      tag,
      scope,
      body: putTenantSchema,
      answers: { 200: { description: "The tenant.", schema: "Tenant" } },
      async handle({ body, param }) {
        const id = param("tenant");
        if (!isTenantId(id)) {
          throw invalid("invalid_tenant", "The tenant's id is not acceptable.", [
            { path: "tenant", message: "must be 1 to 63 lower-case letters, digits and hyphens" },
          ]);
        }
        return json(unwrap(await tenantOf(services, id).put(body)));
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/tenants/:tenant",
      id: "getTenant",
      summary: "A tenant, its limits as they hold and what it has",
      tag,
      scope,
      answers: { 200: { description: "The tenant.", schema: "Tenant" } },
      problems: [404],
      handle: async ({ param }) => json(unwrap(await tenantOf(services, param("tenant")).info())),
    }),

    endpoint({
      method: "delete",
      path: "/v1/tenants/:tenant",
      id: "deleteTenant",
      summary: "Delete all teams, keys and usage of a tenant; goes on by itself",
      tag,
      scope,
      answers: { 202: { description: "It is being deleted; it is 404 from now on." } },
      problems: [404],
      async handle({ param }) {
        unwrap(await tenantOf(services, param("tenant")).destroy());
        return new Response(null, { status: 202 });
      },
    }),
  ];
}
