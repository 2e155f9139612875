import type * as z from "zod";
import type { ParameterNames, ValueOf } from "../../contract/commands/command.ts";
import type {
  ServiceCommands,
  TeamCommands,
  TenantCommands,
} from "../../contract/commands/commands.ts";
import type { Call, Transport } from "./transport.ts";

type Commands = ServiceCommands & TeamCommands & TenantCommands;

type WithoutPattern<Path extends string> = Path extends `${infer Start}{${string}}${infer End}`
  ? `${Start}${End}`
  : Path;

/** The commands of the API, as `GET /v1/teams/:team`. */
type Routes = {
  [
    Name in keyof Commands as `${Uppercase<Commands[Name]["method"]>} ${WithoutPattern<Commands[Name]["path"]>}`
  ]: Commands[Name];
};

type Route = keyof Routes;

/** The parameters in a route's path, but those that a sender has. */
type PathParameters<R extends Route, Own extends string> = {
  readonly [Name in Exclude<ParameterNames<Routes[R]["path"]>[number], Own>]: string | number;
};

/** The parts of a command besides its path. */
type CommandCall<R extends Route> = Omit<Call, "method" | "body"> & {
  body?: Routes[R] extends { body: infer Body extends z.ZodType } ? z.input<Body> : undefined;
};

type AnswerOf<R extends Route> = [ValueOf<Routes[R]>] extends [null] ? void : ValueOf<Routes[R]>;

/** Sends commands. Their paths, bodies and answers have the types of the table of commands, which is not loaded for it. */
export class CommandSender<Own extends string = never> {
  readonly #transport: Transport;
  readonly #own: Readonly<Record<Own, string>>;

  /** @param own the parameters that all commands of this sender have */
  constructor(transport: Transport, own: Readonly<Record<Own, string>>) {
    this.#transport = transport;
    this.#own = own;
  }

  /** @throws ApiError | ConnectionError */
  json<R extends Route>(
    route: R,
    parameters: PathParameters<R, Own>,
    call: CommandCall<R> = {},
  ): Promise<AnswerOf<R>> {
    const { method, path } = this.#addressOf(route, parameters);
    return this.#transport.json(path, { ...call, method });
  }

  /** Creates something exactly once, even if the request is repeated. @throws ApiError | ConnectionError */
  once<R extends Route>(
    route: R,
    parameters: PathParameters<R, Own>,
    body: CommandCall<R>["body"],
    { signal, idempotencyKey = true }: Pick<Call, "signal" | "idempotencyKey">,
  ): Promise<AnswerOf<R>> {
    return this.json(route, parameters, { body, signal, idempotencyKey });
  }

  /** The response itself. @throws ApiError | ConnectionError */
  send<R extends Route>(
    route: R,
    parameters: PathParameters<R, Own>,
    call: CommandCall<R> = {},
  ): Promise<Response> {
    const { method, path } = this.#addressOf(route, parameters);
    return this.#transport.send(path, { ...call, method });
  }

  /** A stream of server-sent events that continues after the last id. @throws ApiError | ConnectionError */
  stream<R extends Route>(
    route: R,
    parameters: PathParameters<R, Own>,
    lastId: string | undefined,
    signal: AbortSignal,
    query?: Call["query"],
  ): Promise<Response> {
    return this.#transport.stream(this.#addressOf(route, parameters).path, lastId, signal, query);
  }

  #addressOf(
    route: string,
    parameters: { readonly [name: string]: string | number },
  ): { method: NonNullable<Call["method"]>; path: string } {
    const [method, path = ""] = route.split(" ");
    const all: typeof parameters = { ...this.#own, ...parameters };
    return {
      method: method as NonNullable<Call["method"]>,
      path: path.replaceAll(/(?<=\/):(\w+)/g, (_, name: string) => encoded(name, all[name])),
    };
  }
}

/** The path of a file keeps its slashes. */
function encoded(name: string, value: string | number | undefined): string {
  const text = String(value);
  return name === "path"
    ? text.split("/").map(encodeURIComponent).join("/")
    : encodeURIComponent(text);
}
