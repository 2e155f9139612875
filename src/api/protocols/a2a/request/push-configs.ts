import { beginningOf } from "../../../../core/cut.ts";
import type { PushConfig, SecretPushConfig } from "../../../../contract/push.ts";
import { TroupeError } from "../../../../core/errors.ts";
import { A2AError } from "../wire/errors.ts";
import type { TaskPushNotificationConfig } from "../wire/wire.ts";
import { findTask, unwrapIn } from "./contexts.ts";
import {
  type GivenPushConfig,
  parseParams,
  pushConfigIdSchema,
  pushConfigsSchema,
  taskPushConfigSchema,
} from "./params.ts";
import { type A2ARequest, needs } from "./services.ts";

/** The header that has the token of a config. */
const TOKEN = "x-a2a-notification-token";

/** `CreateTaskPushNotificationConfig`; one with the same id is replaced. @throws A2AError or ProblemError */
export async function createPushConfig(
  request: A2ARequest,
  params: unknown,
): Promise<TaskPushNotificationConfig> {
  requireSupport(request);
  const { taskId, ...given } = parseParams(taskPushConfigSchema, params);
  const config = pushConfigOf(request, given);
  const address = await findTask(request, taskId);
  unwrapIn(address, await address.team.putPushConfig(address.run, config));
  return shown(taskId, config);
}

/** `GetTaskPushNotificationConfig`. @throws A2AError or ProblemError */
export async function getPushConfig(
  request: A2ARequest,
  params: unknown,
): Promise<TaskPushNotificationConfig> {
  requireSupport(request);
  needs(request, "runs:read");
  const { taskId, id } = parseParams(pushConfigIdSchema, params);
  const configs = await configsOf(request, taskId);
  const config = configs.find((one) => one.id === id);
  if (config !== undefined) return shown(taskId, config);
  const ids = configs.map((one) => JSON.stringify(one.id)).join(", ") || "none";
  throw new A2AError(
    "TASK_NOT_FOUND",
    `The task has no push notification config ${JSON.stringify(beginningOf(id, 255))}; it has ${ids}.`,
  );
}

/** `ListTaskPushNotificationConfigs`: they are few, so there is one page. @throws A2AError or ProblemError */
export async function listPushConfigs(
  request: A2ARequest,
  params: unknown,
): Promise<{ configs: TaskPushNotificationConfig[]; nextPageToken: string }> {
  requireSupport(request);
  needs(request, "runs:read");
  const { taskId } = parseParams(pushConfigsSchema, params);
  const configs = await configsOf(request, taskId);
  return { configs: configs.map((config) => shown(taskId, config)), nextPageToken: "" };
}

/** `DeleteTaskPushNotificationConfig`. @throws A2AError or ProblemError */
export async function deletePushConfig(request: A2ARequest, params: unknown): Promise<object> {
  requireSupport(request);
  needs(request, "runs:write");
  const { taskId, id } = parseParams(pushConfigIdSchema, params);
  const address = await findTask(request, taskId);
  unwrapIn(address, await address.team.deletePushConfig(address.run, id));
  return {};
}

/**
 * A config as it is stored with its run.
 *
 * @param path where the config is in the params, with a dot
 * @throws A2AError or ProblemError
 */
export function pushConfigOf(
  request: A2ARequest,
  { id = "", url, token = "", authentication }: GivenPushConfig,
  path = "",
): SecretPushConfig {
  requireSupport(request);
  needs(request, "runs:write");
  requireUrl(request, url, `${path}url`);
  const { scheme, credentials = "" } = authentication ?? {};
  const headers = {
    ...(scheme !== undefined && { authorization: `${scheme} ${credentials}`.trim() }),
    ...(token !== "" && { [TOKEN]: token }),
  };
  return {
    id: id === "" ? crypto.randomUUID() : id,
    url,
    format: request.format,
    about: scheme === undefined ? {} : { scheme },
    headers: JSON.stringify(headers),
  };
}

/** @throws A2AError or ProblemError */
async function configsOf(request: A2ARequest, taskId: string): Promise<PushConfig[]> {
  const address = await findTask(request, taskId);
  return unwrapIn(address, await address.team.pushConfigs(address.run));
}

/** @throws A2AError where nothing could be sent */
function requireSupport({ services }: A2ARequest): void {
  if (services.pushNotifications) return;
  throw new A2AError(
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "Push notifications need the binding TENANT and the secret SECRETS_KEY: subscribe to the task instead.",
  );
}

/** @throws A2AError */
function requireUrl({ services }: A2ARequest, url: string, path: string): void {
  try {
    services.checkWebhookUrl(url);
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    throw new A2AError("INVALID_PARAMS", `The params are invalid: ${path}: ${error.message}`);
  }
}

function shown(taskId: string, { id, url, about }: PushConfig): TaskPushNotificationConfig {
  const { scheme } = about;
  return { id, taskId, url, ...(typeof scheme === "string" && { authentication: { scheme } }) };
}
