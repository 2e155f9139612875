// The client of an MCP App towards its host: JSON-RPC in messages between windows
// (https://github.com/modelcontextprotocol/ext-apps, revision 2026-01-26). The official client would be a third of the page.

import { type Fields, isFields, type ToolAnswer, type ToolCaller, wordsIn } from "./tool-answer.ts";

const REVISION = "2026-01-26";
const APP = { name: "troupe-run", title: "Troupe: a run", version: "1" };
const METHOD_NOT_FOUND = -32_601;

/** The circumstances that the host reports, as far as the page uses them. */
export interface HostContext {
  theme?: "light" | "dark";
  containerDimensions?: { height?: number; maxHeight?: number };
  toolInfo?: { tool: { name: string; title?: string; _meta?: Fields } };
}

interface HostListener {
  onContext: (context: HostContext) => void;
  onInput: (given: Fields) => void;
  onResult: (result: ToolAnswer) => void;
  onCancelled: () => void;
  /** The host removes the page when the promise resolves. */
  onTeardown: () => Promise<void>;
}

interface RpcMessage {
  id?: number | string;
  method?: string;
  params?: Fields;
  result?: unknown;
  error?: { message?: string };
}

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/** The window that shows the page. Everything that the page reads or changes goes through it. */
export class Host implements ToolCaller {
  readonly #window: Window;
  readonly #listener: HostListener;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #capabilities: Fields = {};

  constructor(window: Window, listener: HostListener) {
    this.#window = window;
    this.#listener = listener;
    addEventListener("message", (event: MessageEvent<unknown>) => {
      if (event.source === window && isFields(event.data)) this.#receive(event.data);
    });
  }

  async connect(): Promise<void> {
    const answer = (await this.#request("ui/initialize", {
      appInfo: APP,
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen", "pip"] },
      protocolVersion: REVISION,
    })) as { hostContext?: HostContext; hostCapabilities?: Fields };
    this.#capabilities = answer.hostCapabilities ?? {};
    this.#listener.onContext(answer.hostContext ?? {});
    this.#notify("ui/notifications/initialized", {});
  }

  /** Calls a tool of the server. @throws Error with the words of a tool that refuses */
  async callTool(name: string, given: Fields): Promise<ToolAnswer> {
    const result = (await this.#request("tools/call", { name, arguments: given })) as ToolAnswer;
    if (result.isError === true) throw new Error(wordsIn(result) || "The server refused the call.");
    return result;
  }

  /** Asks the host to open a page. @returns false for a host that opens none */
  openLink(url: string): boolean {
    if (this.#capabilities["openLinks"] === undefined) return false;
    void this.#request("ui/open-link", { url }).catch(() => undefined);
    return true;
  }

  /** Asks the host to store a file. @param data base64 @returns false for a host that stores none */
  download(name: string, data: string): boolean {
    if (this.#capabilities["downloadFile"] === undefined) return false;
    const uri = `file:///${encodeURIComponent(name)}`;
    const resource = { uri, mimeType: "application/octet-stream", blob: data };
    const contents = [{ type: "resource", resource }];
    void this.#request("ui/download-file", { contents }).catch(() => undefined);
    return true;
  }

  /** Reports the height that the page needs, in pixels. */
  resize(height: number): void {
    this.#notify("ui/notifications/size-changed", { height });
  }

  #receive(message: RpcMessage): void {
    const { id, method, params = {} } = message;
    if (method === undefined) this.#settle(message);
    else if (id === undefined) this.#notified(method, params);
    else void this.#answer(id, method);
  }

  #settle({ id, result, error }: RpcMessage): void {
    const waiting = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    if (error === undefined) waiting?.resolve(result ?? {});
    else waiting?.reject(new Error(error.message ?? "The host refused the request."));
  }

  #notified(method: string, params: Fields): void {
    switch (method) {
      case "ui/notifications/host-context-changed":
        return this.#listener.onContext(params);
      case "ui/notifications/tool-input":
        return this.#listener.onInput(isFields(params["arguments"]) ? params["arguments"] : {});
      case "ui/notifications/tool-result":
        return this.#listener.onResult(params);
      case "ui/notifications/tool-cancelled":
        return this.#listener.onCancelled();
      default:
    }
  }

  async #answer(id: number | string, method: string): Promise<void> {
    if (method === "ui/resource-teardown") await this.#listener.onTeardown();
    if (method === "ui/resource-teardown" || method === "ping") this.#send({ id, result: {} });
    else this.#send({ id, error: { code: METHOD_NOT_FOUND, message: "The page has no tools." } });
  }

  #request(method: string, params: Fields): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  #notify(method: string, params: Fields): void {
    this.#send({ method, params });
  }

  #send(message: Fields): void {
    // The page does not know the origin of its host. It says nothing that the host may not know.
    this.#window.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }
}
