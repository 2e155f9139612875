import type { Result } from "../result.ts";
import type {
  DeliveryPage,
  DeliveryQuery,
  PutWebhook,
  PutWebhookAnswer,
  RotateSecret,
  WebhookDelivery,
  WebhookInfo,
  WebhookSecret,
  WebhookTest,
} from "../webhooks/webhook.ts";

/** The webhooks of a tenant, as the HTTP layer sees them. Reading those of a tenant that has none writes nothing. */
export interface WebhookGateway {
  /** The answer to a new webhook has its secret. */
  putWebhook(id: string, input: PutWebhook): Promise<Result<PutWebhookAnswer>>;
  webhooks(): Promise<WebhookInfo[]>;
  webhook(id: string): Promise<Result<WebhookInfo>>;
  /** Erases its deliveries, too. */
  deleteWebhook(id: string): Promise<Result<null>>;
  /** The tenant's own secret, made when it is first asked for. */
  defaultWebhookSecret(): Promise<Result<WebhookSecret>>;
  /** @param id of a webhook, or `default` for the tenant's own secret */
  rotateWebhookSecret(id: string, options: RotateSecret): Promise<Result<WebhookSecret>>;
  /** @param id of a webhook, or `default` for those of webhooks on runs */
  webhookDeliveries(id: string, query: DeliveryQuery): Promise<Result<DeliveryPage>>;
  retryWebhookDelivery(id: string, delivery: string): Promise<Result<WebhookDelivery>>;
  /** Sends an event `webhook.test`, once. */
  testWebhook(id: string): Promise<Result<WebhookTest>>;
}
