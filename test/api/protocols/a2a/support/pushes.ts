import { StreamResponse, type TaskPushNotificationConfig } from "@a2a-js/sdk";
import type { WebhookReceiver } from "../../../../support/webhook-receiver.ts";

export type Push = NonNullable<StreamResponse["payload"]>;

/** What clients send of a config. */
export function pushConfig(
  url: string,
  given: Partial<TaskPushNotificationConfig> = {},
): TaskPushNotificationConfig {
  return { tenant: "", id: "", taskId: "", url, token: "", authentication: undefined, ...given };
}

/**
 * The notifications that came to a path, in order, once there are as many.
 *
 * @param secret that signs them
 */
export async function pushesAt(
  receiver: WebhookReceiver,
  secret: string,
  count: number,
  path?: string,
): Promise<Push[]> {
  const bodies = await receiver.events(secret, count, path);
  return bodies.map((body) => {
    const { payload } = StreamResponse.fromJSON(body);
    if (payload === undefined) throw new Error(`not a StreamResponse: ${JSON.stringify(body)}`);
    return payload;
  });
}
