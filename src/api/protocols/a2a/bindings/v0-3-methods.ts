import { isJsonObject } from "../../../../core/json.ts";
import { A2AError } from "../wire/errors.ts";
import { type Method, type Methods, refuseExtendedCard } from "../request/methods.ts";
import { createPushConfig, deletePushConfig, listPushConfigs } from "../request/push-configs.ts";
import { sendMessage, sendStreamingMessage } from "../request/send-message.ts";
import type { A2ARequest } from "../request/services.ts";
import { cancelTask, getTask, subscribeToTask } from "../request/tasks.ts";
import { givenMessage, givenPushConfig, givenPushConfigId } from "./v0-3-params.ts";
import { shownPushConfig, shownTask } from "../encoder/v0-3-results.ts";

/** The methods of 0.3, each by that of 1.0. */
export const LEGACY_METHODS: Methods = {
  single: new Map<string, Method<object | null>>([
    [
      "message/send",
      async (request, params) => shownTask((await sendMessage(request, givenMessage(params))).task),
    ],
    ["tasks/get", async (request, params) => shownTask(await getTask(request, params))],
    ["tasks/cancel", async (request, params) => shownTask(await cancelTask(request, params))],
    [
      "tasks/pushNotificationConfig/set",
      async (request, params) =>
        shownPushConfig(await createPushConfig(request, givenPushConfig(params))),
    ],
    ["tasks/pushNotificationConfig/get", getConfig],
    [
      "tasks/pushNotificationConfig/list",
      async (request, params) => {
        const { configs } = await listPushConfigs(request, givenPushConfigId(params));
        return configs.map(shownPushConfig);
      },
    ],
    [
      "tasks/pushNotificationConfig/delete",
      async (request, params) => {
        await deletePushConfig(request, givenPushConfigId(params));
        return null;
      },
    ],
    ["agent/getAuthenticatedExtendedCard", refuseExtendedCard],
  ]),
  streams: new Map([
    ["message/stream", (request, params) => sendStreamingMessage(request, givenMessage(params))],
    ["tasks/resubscribe", subscribeToTask],
  ]),
};

/** Without the id of a config, the task's first. */
async function getConfig(request: A2ARequest, params: unknown): Promise<object> {
  const completed = givenPushConfigId(params);
  const { configs } = await listPushConfigs(request, completed);
  const id = isJsonObject(completed) ? completed.id : undefined;
  const config = id === undefined ? configs[0] : configs.find((one) => one.id === id);
  if (config !== undefined) return shownPushConfig(config);
  throw new A2AError("TASK_NOT_FOUND", "The task has no such push notification config.");
}
