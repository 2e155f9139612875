import type OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import type {
  ResponsesClientEvent,
  ResponsesServerEvent,
} from "openai/resources/responses/responses";

type Create = Omit<ResponsesClientEvent.ResponseCreate, "type">;
type Ended = Extract<ResponsesServerEvent, { type: "response.completed" }>["response"];

/** A connection by the unmodified client. */
export class Connection {
  readonly socket: ResponsesWS;
  readonly events: ResponsesServerEvent[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #waiting = new Set<() => void>();

  constructor(openai: OpenAI) {
    this.socket = new ResponsesWS(openai);
    this.closed = new Promise((resolve) => {
      this.socket.on("close", (code, reason) => resolve({ code, reason }));
    });
    this.socket.on("error", () => undefined);
    this.socket.on("event", (event) => {
      this.events.push(event);
      for (const look of this.#waiting) look();
    });
  }

  send(body: Create): void {
    this.socket.send({ type: "response.create", ...body });
  }

  /** The first event of those behind `from` that is wanted. */
  until<E extends ResponsesServerEvent>(
    isWanted: (event: ResponsesServerEvent) => event is E,
    from = 0,
  ): Promise<E> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.events.slice(from).find(isWanted);
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Creates a response and waits for its end. */
  async create(body: Create): Promise<Ended> {
    const from = this.events.length;
    this.send(body);
    return (await this.until(isCompleted, from)).response;
  }

  async fail(body: object): Promise<ServerError> {
    const from = this.events.length;
    this.socket.send(body as ResponsesClientEvent);
    return (await this.until(isError, from)) as ServerError;
  }
}

export type ServerError = ResponsesServerEvent & {
  type: "error";
  status: number;
  error: { code: string; param: string | null; message: string };
  stream_id?: string;
};

export const isCompleted = (
  event: ResponsesServerEvent,
): event is Extract<ResponsesServerEvent, { type: "response.completed" }> =>
  event.type === "response.completed";
const isError = (
  event: ResponsesServerEvent,
): event is Extract<ResponsesServerEvent, { type: "error" }> => event.type === "error";

export const textOf = ({ output }: Ended): string =>
  output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => (part.type === "output_text" ? part.text : ""))
    .join("");
