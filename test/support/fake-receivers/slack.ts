import type { ServerResponse } from "node:http";
import { EchoServer, type SeenRequest } from "../echo-server.ts";

interface Text {
  type: string;
  text: string;
  verbatim?: boolean;
}

interface Block {
  type: string;
  text?: Text;
}

export interface SlackMessage {
  text: string;
  blocks: Block[];
}

/** Characters that mrkdwn reserves: they stand for themselves only as entities, or as a link of the form `<address|words>`. */
const RESERVED = /&(?!(amp|lt|gt);)|<(?!https?:\/\/[^<>|\s]+\|[^<>|]+>)|(?<!\|[^<>|]*)>/;

/** An incoming webhook that refuses what Slack refuses. */
export class FakeSlack implements AsyncDisposable {
  readonly path = "/services/T00000000/B00000000/wOrDsThatNobodyKnows";
  /** The next answers, instead of the checks. */
  readonly next: ((response: ServerResponse) => void)[] = [];
  readonly accepted: SlackMessage[] = [];
  readonly refused: string[] = [];
  #server: EchoServer | undefined;

  static async start(): Promise<FakeSlack> {
    const slack = new FakeSlack();
    slack.#server = await EchoServer.start((response, request) => slack.#answer(response, request));
    return slack;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server?.port}${this.path}`;
  }

  #answer(response: ServerResponse, request: SeenRequest): void {
    const given = this.next.shift();
    if (given !== undefined) return given(response);
    const refuse = (status: number, code: string): void => {
      this.refused.push(code);
      response.writeHead(status, { "content-type": "text/html" }).end(code);
    };
    if (request.path !== this.path) return refuse(404, "no_service");
    const message = JSON.parse(request.body) as SlackMessage;
    const problem = problemOf(message);
    if (problem !== undefined) return refuse(400, problem);
    this.accepted.push(message);
    response.writeHead(200, { "content-type": "text/html" }).end("ok");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }
}

function problemOf({ text, blocks }: SlackMessage): string | undefined {
  if (typeof text !== "string" || text === "") return "no_text";
  if (blocks.length === 0 || blocks.length > 50) return "invalid_blocks";
  for (const { type, text: content } of blocks) {
    if (content === undefined || content.text === "") return "invalid_blocks";
    if (type === "header" && (content.type !== "plain_text" || content.text.length > 150)) {
      return "invalid_blocks";
    }
    if (type === "section" && content.text.length > 3_000) return "invalid_blocks";
    if (content.type === "mrkdwn" && RESERVED.test(content.text)) return "invalid_blocks";
  }
  return undefined;
}
