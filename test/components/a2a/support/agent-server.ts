import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  AgentCard,
  Artifact,
  Message,
  SSE_HEADERS,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
  formatSSEEvent,
} from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from "@a2a-js/sdk/server";
import { requestBody } from "../../../support/request-body.ts";

/** A call of JSON-RPC. */
type Call = { method: string; params: { id?: string } };

/** The methods by which a client looks at a task. */
const WATCHING = new Set(["GetTask", "SubscribeToTask"]);

/** What an agent does with a message. */
export type Work = (about: Working) => Promise<void>;

export interface AgentServerOptions {
  streaming?: boolean;
  /** Requests without it get 401. */
  authorization?: string;
}

/** One message that an agent works on. */
export class Working {
  readonly #context: RequestContext;
  readonly #bus: ExecutionEventBus;
  /** Resolves when the client has begun to follow the task, or has asked how it is. */
  readonly watched: Promise<unknown>;

  constructor(context: RequestContext, bus: ExecutionEventBus, watches: EventEmitter) {
    this.#context = context;
    this.#bus = bus;
    this.watched = once(watches, context.taskId);
  }

  get message(): Message {
    return this.#context.userMessage;
  }

  /** The task before this message, if the message continues one. */
  get earlier(): Task | undefined {
    return this.#context.task;
  }

  get text(): string {
    return textOf(this.message);
  }

  /** The task is there. */
  begin(state = "TASK_STATE_WORKING"): void {
    const { taskId: id, contextId } = this.#context;
    const task = { id, contextId, status: { state }, history: [Message.toJSON(this.message)] };
    this.#bus.publish(AgentEvent.task(Task.fromJSON(task)));
  }

  artifact(text: string, { id = "answer", append = false } = {}): void {
    const artifact = Artifact.toJSON(Artifact.fromJSON({ artifactId: id, parts: [{ text }] }));
    const update = { ...this.#about, artifact, append };
    this.#bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON(update)));
  }

  status(state: string, text?: string): void {
    const message = text === undefined ? undefined : this.#message(text);
    const status = { state: `TASK_STATE_${state}`, message };
    this.#bus.publish(
      AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...this.#about, status })),
    );
  }

  /** An answer without a task. */
  say(text: string): void {
    this.#bus.publish(AgentEvent.message(Message.fromJSON(this.#message(text))));
  }

  #message(text: string): object {
    const { contextId } = this.#context;
    return { messageId: crypto.randomUUID(), contextId, role: "ROLE_AGENT", parts: [{ text }] };
  }

  get #about() {
    const { taskId, contextId } = this.#context;
    return { taskId, contextId };
  }
}

export function textOf({ parts }: Message): string {
  return parts.map(({ content }) => (content?.$case === "text" ? content.value : "?")).join("|");
}

/** An A2A agent on the official SDK, in this process. */
export class AgentServer implements AsyncDisposable {
  /** The methods that were called. */
  readonly methods: string[] = [];
  /** The messages that were sent. */
  readonly messages: Message[] = [];
  readonly cancelled: string[] = [];
  /** Answers the next requests with this status. */
  failing: number[] = [];
  /** The bodies of those. */
  readonly refused: unknown[] = [];
  /** Handles requests and sends no responses. */
  silent = false;
  /** Called for each request: where its connection breaks, if it does. */
  breaks: (method: string) => "before" | "during" | "after" | undefined = () => undefined;
  readonly #http: Server;
  readonly #options: AgentServerOptions;
  /** Has an event for each time that a client looks at a task, named by the task's id. */
  readonly #watches = new EventEmitter();
  #rpc: JsonRpcTransportHandler | undefined;

  private constructor(work: Work, options: AgentServerOptions) {
    this.#options = options;
    this.#http = createServer((request, response) => void this.#handle(request, response));
    const executor: AgentExecutor = {
      execute: async (context, bus) => {
        this.messages.push(context.userMessage);
        await work(new Working(context, bus, this.#watches));
      },
      cancelTask: async (taskId, bus) => {
        this.cancelled.push(taskId);
        const status = { state: "TASK_STATE_CANCELED" };
        const update = { taskId, contextId: "", status };
        bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON(update)));
        bus.finished();
      },
    };
    void once(this.#http, "listening").then(() => {
      const card = AgentCard.fromJSON(this.card);
      const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
      this.#rpc = new JsonRpcTransportHandler(handler);
      return undefined;
    });
  }

  /** @param port 0: any free one */
  static async start(work: Work, options: AgentServerOptions = {}, port = 0): Promise<AgentServer> {
    const server = new AgentServer(work, options);
    await once(server.#http.listen(port, "127.0.0.1"), "listening");
    return server;
  }

  /** The URL of the agent. */
  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/agent`;
  }

  get card(): object {
    return {
      name: "remote",
      description: "A remote agent.",
      version: "1",
      supportedInterfaces: [
        { url: "https://elsewhere.example.com", protocolBinding: "GRPC", protocolVersion: "1.0" },
        { url: `${this.url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ],
      capabilities: { streaming: this.#options.streaming ?? true },
      defaultInputModes: ["text/plain", "image/png"],
      defaultOutputModes: ["text/plain"],
      skills: [],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((closed) => this.#http.close(closed));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const status = this.failing.shift();
    if (status !== undefined) {
      const body = await requestBody(request);
      if (body) this.refused.push(JSON.parse(body));
      return void response.writeHead(status).end("Not now.");
    }
    const { authorization } = this.#options;
    if (authorization !== undefined && request.headers.authorization !== authorization) {
      return void response
        .writeHead(401)
        .end(`Not with ${request.headers.authorization ?? "nothing"}.`);
    }
    if (request.url === "/agent/.well-known/agent-card.json") return json(response, this.card);
    const body = JSON.parse((await requestBody(request)) ?? "") as Call;
    const breaks = this.breaks(body.method);
    if (breaks === "before") return void request.socket.destroy();
    this.methods.push(body.method);
    const requestedVersion = String(request.headers["a2a-version"]);
    const context = new ServerCallContext({ requestedVersion });
    const answering = this.#rpc!.handle(body, context);
    if (breaks === "during") request.socket.destroy();
    const answer = await answering;
    if (breaks !== undefined) return void request.socket.destroy();
    if (this.silent) return;
    const watched = WATCHING.has(body.method) ? body.params.id : undefined;
    if (!(Symbol.asyncIterator in answer)) {
      json(response, answer);
      if (watched !== undefined) this.#watches.emit(watched);
      return;
    }
    response.writeHead(200, SSE_HEADERS);
    try {
      for await (const event of answer) {
        response.write(formatSSEEvent(event));
        if (watched !== undefined) this.#watches.emit(watched);
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : "unknown";
      const code = /terminal/.test(message) ? -32_004 : -32_603;
      response.write(formatSSEEvent({ jsonrpc: "2.0", id: 1, error: { code, message } }));
    }
    response.end();
  }
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}
