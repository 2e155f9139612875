import { beginningOf } from "../../../../core/cut.ts";
import type { OpenedStream } from "../../../../contract/gateways/team-gateway.ts";
import { A2AError } from "../wire/errors.ts";
import {
  createPushConfig,
  deletePushConfig,
  getPushConfig,
  listPushConfigs,
} from "./push-configs.ts";
import { sendMessage, sendStreamingMessage } from "./send-message.ts";
import type { A2ARequest } from "./services.ts";
import { cancelTask, getTask, listTasks, subscribeToTask } from "./tasks.ts";

export type Method<Result> = (request: A2ARequest, params: unknown) => Promise<Result>;

/** The methods of a version by their names. */
export interface Methods {
  single: ReadonlyMap<string, Method<object | null>>;
  streams: ReadonlyMap<string, Method<OpenedStream>>;
}

/** The methods of 1.0. */
export const METHODS: Methods = {
  single: new Map<string, Method<object>>([
    ["SendMessage", sendMessage],
    ["GetTask", getTask],
    ["ListTasks", listTasks],
    ["CancelTask", cancelTask],
    ["CreateTaskPushNotificationConfig", createPushConfig],
    ["GetTaskPushNotificationConfig", getPushConfig],
    ["ListTaskPushNotificationConfigs", listPushConfigs],
    ["DeleteTaskPushNotificationConfig", deletePushConfig],
    ["GetExtendedAgentCard", refuseExtendedCard],
  ]),
  streams: new Map([
    ["SendStreamingMessage", sendStreamingMessage],
    ["SubscribeToTask", subscribeToTask],
  ]),
};

export async function refuseExtendedCard(): Promise<never> {
  throw new A2AError("UNSUPPORTED_OPERATION", "There is no extended agent card.");
}

/** The error for a version that is not supported. */
export function versionNotSupported(version: string): A2AError {
  const said = JSON.stringify(beginningOf(version, 20));
  return new A2AError(
    "VERSION_NOT_SUPPORTED",
    `Version ${said} is not supported here: send the header or the query parameter A2A-Version: 1.0`,
  );
}
