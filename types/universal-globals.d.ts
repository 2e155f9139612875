/**
 * The globals that src/core may use: those that Node, browsers and workerd all have, with only the members they agree
 * on. src/core is type-checked against this file alone (tsconfig.core.json), so a use of anything else fails there.
 */

interface EventLike {
  readonly type: string;
}

interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  onabort: ((event: EventLike) => void) | null;
  throwIfAborted(): void;
  addEventListener(
    type: "abort",
    listener: (event: EventLike) => void,
    options?: { once?: boolean; signal?: AbortSignal },
  ): void;
  removeEventListener(type: "abort", listener: (event: EventLike) => void): void;
}

declare const AbortSignal: {
  readonly prototype: AbortSignal;
  abort(reason?: unknown): AbortSignal;
  any(signals: AbortSignal[]): AbortSignal;
  timeout(milliseconds: number): AbortSignal;
};

interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare const AbortController: {
  readonly prototype: AbortController;
  new (): AbortController;
};

interface DOMException extends Error {
  readonly code: number;
}

declare const DOMException: {
  readonly prototype: DOMException;
  new (message?: string, name?: string): DOMException;
};

/** A number in browsers and workerd, an object in Node: only good for handing back to `clearTimeout`. */
type TimeoutHandle = { readonly __timeout: never } & object;

declare function setTimeout(callback: () => void, milliseconds?: number): TimeoutHandle;
declare function clearTimeout(handle: TimeoutHandle | undefined): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T): T;

interface TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>;
}

declare const TextEncoder: {
  readonly prototype: TextEncoder;
  new (): TextEncoder;
};

interface TextDecoder {
  decode(input?: Uint8Array | ArrayBuffer, options?: { stream?: boolean }): string;
}

declare const TextDecoder: {
  readonly prototype: TextDecoder;
  new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
};

declare function atob(data: string): string;
declare function btoa(data: string): string;

declare const crypto: {
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
  getRandomValues<T extends Uint8Array>(array: T): T;
  readonly subtle: {
    digest(algorithm: "SHA-256", data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
  };
};

interface URLSearchParams extends Iterable<[string, string]> {
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  toString(): string;
}

declare const URLSearchParams: {
  readonly prototype: URLSearchParams;
  new (init?: string | Record<string, string>): URLSearchParams;
};

interface URL {
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toString(): string;
}

declare const URL: {
  readonly prototype: URL;
  new (url: string, base?: string): URL;
  canParse(url: string, base?: string): boolean;
};

/** Only passed through, never read, by the ports in src/core. */
interface ReadableStream<R = unknown> {
  readonly locked: boolean;
  cancel(reason?: unknown): Promise<void>;
  getReader(): { read(): Promise<{ done: boolean; value?: R }> };
}

interface DecompressionStream {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: {
    getWriter(): {
      write(chunk: Uint8Array<ArrayBuffer>): Promise<void>;
      close(): Promise<void>;
      abort(reason?: unknown): Promise<void>;
    };
  };
}

declare const DecompressionStream: {
  readonly prototype: DecompressionStream;
  new (format: "deflate-raw"): DecompressionStream;
};
