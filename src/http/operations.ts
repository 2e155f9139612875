import type { Endpoint, WriteProblem } from "./endpoint.ts";
import { healthEndpoint } from "./routes/health.ts";
import type { Services } from "./services.ts";

/** An operation of the API, whose endpoint may have to be imported. */
export interface Operation {
  method: string;
  /** As in {@link Endpoint.path}. */
  path: string;
  endpoint: () => Endpoint | Promise<Endpoint>;
}

/** The operations of a module, as `METHOD path`, and how its endpoints are made. */
export interface RouteModule {
  operations: readonly string[];
  load: () => Promise<Endpoint[]>;
  /** How problems with paths below this one are written that no operation has. */
  others?: { below: string; write: () => Promise<WriteProblem> };
}

const TEAM = "/v1/teams/:team";
const RUN = `${TEAM}/runs/:run`;
const SCHEDULES = `${TEAM}/schedules`;
const FILE = `${TEAM}/files/:path{[^]+}`;
const WEBHOOK = "/v1/webhooks/:webhook";

/** Most isolates serve a few operations, so a module is imported with the first request to one of its own. */
const routeModules = (services: Services): RouteModule[] => [
  {
    operations: [
      "POST /v1/teams",
      `GET ${TEAM}`,
      `PUT ${TEAM}/component`,
      `DELETE ${TEAM}`,
      `POST ${TEAM}/reset`,
      `GET ${TEAM}/state`,
      `PUT ${TEAM}/state`,
      `POST ${TEAM}/fork`,
      `GET ${TEAM}/messages`,
      `POST ${TEAM}/runs`,
      `GET ${TEAM}/runs`,
      `GET ${RUN}`,
      `GET ${TEAM}/events`,
      `GET ${RUN}/events`,
    ],
    load: async () => (await import("./routes/conversations.ts")).endpoints(services),
  },
  {
    operations: [
      `POST ${RUN}/stop`,
      `POST ${RUN}/pause`,
      `POST ${RUN}/resume`,
      `POST ${RUN}/retry`,
      `GET ${RUN}/requests`,
      `POST ${RUN}/requests/:request`,
      `GET ${RUN}/trace`,
      `POST ${SCHEDULES}`,
      `GET ${SCHEDULES}`,
      `GET ${SCHEDULES}/:schedule`,
      `PATCH ${SCHEDULES}/:schedule`,
      `DELETE ${SCHEDULES}/:schedule`,
      `POST ${SCHEDULES}/:schedule/run_now`,
      `GET ${TEAM}/files`,
      `GET ${FILE}`,
      `PUT ${FILE}`,
      `DELETE ${FILE}`,
      `GET ${TEAM}/state/parts`,
      `PUT ${TEAM}/state/parts/:part`,
      `GET ${TEAM}/state/staged`,
      `DELETE ${TEAM}/state/staged`,
      `POST ${TEAM}/state/commit`,
      "GET /v1/teams",
      "GET /v1/runs",
      "GET /v1/requests",
      "GET /v1/events",
      "GET /v1/usage",
      "GET /v1/whoami",
      "POST /v1/keys",
      "GET /v1/keys",
      "DELETE /v1/keys/:key",
      `POST ${TEAM}/tokens`,
      `DELETE ${TEAM}/tokens/:token`,
      `DELETE ${TEAM}/tokens`,
      "GET /v1/tenants",
      "PUT /v1/tenants/:tenant",
      "GET /v1/tenants/:tenant",
      "DELETE /v1/tenants/:tenant",
      "GET /v1/webhooks",
      `PUT ${WEBHOOK}`,
      `GET ${WEBHOOK}`,
      `DELETE ${WEBHOOK}`,
      "GET /v1/webhooks/default/secret",
      `POST ${WEBHOOK}/rotate_secret`,
      `GET ${WEBHOOK}/deliveries`,
      `POST ${WEBHOOK}/deliveries/:delivery/retry`,
      `POST ${WEBHOOK}/test`,
      "GET /v1/templates",
      "GET /v1/components",
      "POST /v1/components/validate",
    ],
    load: async () => (await import("./routes/further.ts")).endpoints(services),
  },
];

/** All operations in the order in which they are matched and described. @param protocols those of other protocols */
export function operationsOf(
  services: Services,
  protocols: readonly RouteModule[],
  version: string,
): Operation[] {
  const health = healthEndpoint();
  const described = [
    { method: health.method.toUpperCase(), path: health.path, endpoint: () => health },
    ...[...routeModules(services), ...protocols].flatMap(imported),
  ];
  return [...described, openApi(described, version)];
}

function imported({ operations, load }: RouteModule): Operation[] {
  let endpoints: Promise<Map<string, Endpoint>> | undefined;
  const byOperation = async (): Promise<Map<string, Endpoint>> => {
    const made = new Map((await load()).map((one) => [nameOf(one), one]));
    const names = [...made.keys()];
    if (names.join() === operations.join()) return made;
    throw new TypeError(
      `the operations of a module are ${names.join(", ")}, not ${operations.join(", ")}`,
    );
  };
  return operations.map((operation) => {
    const [method = "", path = ""] = operation.split(" ");
    let known: Endpoint | undefined;
    const find = async (): Promise<Endpoint> => {
      known = (await (endpoints ??= byOperation())).get(operation) as Endpoint;
      return known;
    };
    return { method, path, endpoint: () => known ?? find() };
  });
}

function nameOf({ method, path }: Endpoint): string {
  return `${method.toUpperCase()} ${path}`;
}

function openApi(described: readonly Operation[], version: string): Operation {
  const endpoint = async (): Promise<Endpoint> => {
    const { openApiEndpoint } = await import("./openapi/document.ts");
    const others = await Promise.all(described.map(async (one) => one.endpoint()));
    return openApiEndpoint(others, version);
  };
  let known: Promise<Endpoint> | undefined;
  return { method: "GET", path: "/v1/openapi.json", endpoint: () => (known ??= endpoint()) };
}
