import { hashId } from "../../../core/hash.ts";
import type { RetryPolicy } from "../../../core/steps/retry.ts";
import type { StepAttempt } from "../../../core/steps/step-attempt.ts";
import { loginPrompt } from "../../../core/turn/login-prompt.ts";
import type { Answer, LoginOfQuestion, TurnContext } from "../../../core/turn/turn-context.ts";
import type { SessionUse } from "../connection/session.ts";
import { McpError } from "../answers/mcp-error.ts";
import { LoginNeededError } from "../connection/challenge.ts";

/** Logins that a human is asked for in a row. More would not help: the server refuses what it has asked for. */
const MAX_LOGINS = 3;

/** The recorded end of an effect that has to be repeated after a login. */
export interface LoginNeeded {
  login: Pick<LoginOfQuestion, "url"> & {
    /** The id of the question to the human, which the login answers. */
    question: string;
    /** Missing in steps that earlier versions have recorded: the logins were the tenant's. */
    user?: string | null;
  };
}

/** The use of a session by an effect of a step. */
export function useIn({ signal, session, logins, idempotencyKey }: StepAttempt): SessionUse {
  return {
    signal,
    sandboxSession: session,
    // A step that runs again asks the same question.
    logins: logins && { host: logins, question: hashId(`${idempotencyKey}?login`) },
  };
}

/** The login that an effect needs. @throws other errors */
export function loginNeeded(error: unknown, { logins }: SessionUse): LoginNeeded {
  if (!(error instanceof LoginNeededError) || logins === undefined) throw error;
  return { login: { question: logins.question, ...error.needed } };
}

/** Rounds of one effect: it runs again in a scope of its own after each login that a human has made. */
export class LoginQuestions {
  readonly #ctx: TurnContext;
  readonly #server: string;
  readonly #source: string;
  #rounds = 0;
  #scope: TurnContext;

  /** @param source the agent that the human is asked for */
  constructor(ctx: TurnContext, server: string, source: string = server) {
    this.#ctx = ctx;
    this.#server = server;
    this.#source = source;
    this.#scope = ctx;
  }

  /** The scope in which the effect runs in this round. */
  get scope(): TurnContext {
    return this.#scope;
  }

  /** Runs a step, again after each login that it needs. @param retry the server's policy */
  async step<T>(
    key: string,
    retry: RetryPolicy | undefined,
    effect: (use: SessionUse) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const outcome = await this.#scope.step<T | LoginNeeded>(
        key,
        async (attempt) => {
          const use = useIn(attempt);
          try {
            return await effect(use);
          } catch (error) {
            return loginNeeded(error, use);
          }
        },
        { remote: true, retry: () => retry },
      );
      if (!isLoginNeeded(outcome)) return outcome;
      await this.ask(outcome);
    }
  }

  /** Waits for the login and begins the next round. @throws McpError when the human cancels, or logins do not help */
  async ask({ login: { question, user = null, url } }: LoginNeeded): Promise<void> {
    if (this.#rounds === MAX_LOGINS) {
      const message = `The MCP server "${this.#server}" still refuses the request after ${MAX_LOGINS} logins.`;
      throw new McpError("mcp_refused", message);
    }
    const login = { server: this.#server, user, url };
    const answer = await this.#ctx.scope(`login:${this.#rounds}`).ask({
      id: question,
      kind: "input",
      source: this.#source,
      prompt: loginPrompt(login),
      login,
    });
    if (isCancelled(answer)) {
      throw new McpError("mcp_refused", `Nobody logged in at the MCP server "${this.#server}".`);
    }
    this.#rounds++;
    this.#scope = this.#ctx.scope(`logged-in:${this.#rounds}`);
  }
}

function isLoginNeeded(value: unknown): value is LoginNeeded {
  return typeof value === "object" && value !== null && "login" in value;
}

function isCancelled(answer: Answer): boolean {
  if (!("content" in answer)) return true;
  const { content } = answer;
  const text = typeof content === "string" ? content : content["content"];
  return typeof text === "string" && /^(cancel|decline)$/i.test(text.trim());
}
