import { randomUUID } from "node:crypto";
import {
  type Message,
  type Part,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";

/** The official client, found by the team's agent card. */
export async function clientOf(
  worker: { origin: string | Promise<string> },
  team: string,
  headers: Record<string, string> = {},
): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) =>
    fetch(input, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers },
    });
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromUrl(new URL(`/a2a/teams/${team}/`, await worker.origin).href);
}

export function textPart(text: string): Part {
  return part({ $case: "text", value: text });
}

export function dataPart(value: unknown): Part {
  return part({ $case: "data", value });
}

export function part(content: Part["content"], mediaType = ""): Part {
  return { content, metadata: undefined, filename: "", mediaType };
}

/** What a user sends. */
export function message(
  parts: string | Part[],
  given: { taskId?: string; contextId?: string; messageId?: string } = {},
): Message {
  const { taskId = "", contextId = "", messageId = randomUUID() } = given;
  return {
    messageId,
    contextId,
    taskId,
    role: Role.ROLE_USER,
    parts: typeof parts === "string" ? [textPart(parts)] : parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

export function sending(
  given: Message | string,
  configuration: Partial<SendMessageRequest["configuration"]> = {},
  metadata?: Record<string, unknown>,
): SendMessageRequest {
  return {
    tenant: "",
    message: typeof given === "string" ? message(given) : given,
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: false,
      ...configuration,
    },
    metadata,
  };
}

/** Sends a message and gets the task. */
export async function send(client: Client, ...given: Parameters<typeof sending>): Promise<Task> {
  const result = await client.sendMessage(sending(...given));
  if (!("status" in result)) throw new Error("the answer is a message");
  return result;
}

export async function collect(
  stream: AsyncIterable<StreamResponse>,
): Promise<NonNullable<StreamResponse["payload"]>[]> {
  const events = [];
  for await (const { payload } of stream) if (payload !== undefined) events.push(payload);
  return events;
}

export function textOf(parts: readonly Part[] | undefined): string {
  return (parts ?? [])
    .map(({ content }) => (content?.$case === "text" ? content.value : ""))
    .join("");
}

/** The text of a task's answer. */
export function answerText(task: Task): string {
  return textOf(task.artifacts.find(({ artifactId }) => artifactId === "answer")?.parts);
}

export function stateOf(task: Pick<Task, "status">): string {
  return TaskState[task.status?.state ?? -1] ?? "";
}

/** The artifacts of a stream, put together as the specification says. */
export function artifactsOf(
  events: readonly NonNullable<StreamResponse["payload"]>[],
): Map<string, Part[]> {
  const artifacts = new Map<string, Part[]>();
  for (const event of events) {
    if (event.$case !== "artifactUpdate" || event.value.artifact === undefined) continue;
    const { artifactId, parts } = event.value.artifact;
    const before = event.value.append ? artifacts.get(artifactId) : [];
    if (before === undefined) throw new Error(`nothing to append to: ${artifactId}`);
    artifacts.set(artifactId, [...before, ...parts]);
  }
  return artifacts;
}
