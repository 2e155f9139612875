import { setTimeout as sleep } from "node:timers/promises";
import type { ComponentModel, JsonObject, Message } from "troupe";
import type { MessagePage } from "#contract/team.ts";
import type { TriggerDelivery } from "#contract/team/trigger.ts";
import type { RunInfo, RunPage } from "#contract/run.ts";

/** The id of the only team of a trial. */
const TEAM = "team";
/** For a service that listens, but whose answers never come whole. */
const PATIENCE_MS = 240_000;

/** An answer that should not have come. */
export class UnexpectedAnswer extends Error {}

/**
 * The service over HTTP as a client sees it that does not give up soon: a call that gets no answer, because the
 * service died, is made again (with the same idempotency key) once the service is back.
 */
export class Api {
  readonly #origin: () => string;
  readonly #back: () => Promise<void>;

  /** @param back resolves when the service listens again after it died */
  constructor(origin: () => string, back: () => Promise<void>) {
    this.#origin = origin;
    this.#back = back;
  }

  get teamUrl(): string {
    return `${this.#origin()}/v1/teams/${TEAM}`;
  }

  /** Creates the team. When an answer was lost, the team may be there already. */
  async createTeam(component: ComponentModel): Promise<void> {
    await this.call("POST", "/teams", { id: TEAM, component }, [201, 409]);
  }

  async startRun(task: string, on_conflict: "reject" | "queue" = "reject"): Promise<RunInfo> {
    const body = { task, on_conflict };
    return (await this.call("POST", `/teams/${TEAM}/runs`, body, [200, 202])) as RunInfo;
  }

  /** @returns the id of the message; undefined if the run has ended */
  async sendMessage(run: string, content: string): Promise<string | undefined> {
    const path = `/teams/${TEAM}/runs/${run}/messages`;
    return ((await this.call("POST", path, { content }, [202, 409])) as { id?: string }).id;
  }

  async createSchedule(schedule: JsonObject): Promise<void> {
    await this.call("POST", `/teams/${TEAM}/schedules`, schedule, [201]);
  }

  async answer(run: string, request: string, answer: JsonObject): Promise<void> {
    await this.call("POST", `/teams/${TEAM}/runs/${run}/requests/${request}`, answer, [200, 202]);
  }

  async retry(run: string): Promise<RunInfo> {
    return (await this.call("POST", `/teams/${TEAM}/runs/${run}/retry`, {}, [200, 202])) as RunInfo;
  }

  /** The run may have ended in between. */
  async pause(run: string): Promise<void> {
    await this.call("POST", `/teams/${TEAM}/runs/${run}/pause`, {}, [200, 202, 409]);
  }

  async resume(run: string): Promise<void> {
    await this.call("POST", `/teams/${TEAM}/runs/${run}/resume`, {}, [200, 202]);
  }

  /** The run may have ended in between. */
  async stop(run: string, mode: "now" | "after_turn"): Promise<void> {
    await this.call("POST", `/teams/${TEAM}/runs/${run}/stop`, { mode }, [200, 202, 409]);
  }

  async run(run: string): Promise<RunInfo> {
    return (await this.call("GET", `/teams/${TEAM}/runs/${run}`, undefined, [200])) as RunInfo;
  }

  /** The run when it has ended, or after this many seconds. */
  async waitForRun(run: string, seconds: number): Promise<RunInfo> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const found = await this.run(run);
      if (found.ended_at !== null || performance.now() > end) return found;
      await sleep(20);
    }
  }

  /** Newest first. */
  async runs(): Promise<RunInfo[]> {
    return ((await this.call("GET", `/teams/${TEAM}/runs`, undefined, [200])) as RunPage).runs;
  }

  async state(): Promise<JsonObject> {
    return (await this.call("GET", `/teams/${TEAM}/state`, undefined, [200])) as JsonObject;
  }

  /** The whole thread, page by page. */
  async messages(): Promise<Message[]> {
    const messages: Message[] = [];
    for (let after: number | null = 0; after !== null;) {
      const query: string = after === 0 ? "" : `&after=${after}`;
      const page = (await this.call(
        "GET",
        `/teams/${TEAM}/messages?limit=50${query}`,
        undefined,
        [200],
      )) as MessagePage;
      messages.push(...page.messages.map(({ seq: _seq, turn: _turn, ...message }) => message));
      after = page.next_after;
    }
    return messages;
  }

  async putWebhook(id: string, webhook: { url: string; events: string[] }): Promise<void> {
    await this.call("PUT", `/webhooks/${id}`, webhook, [200, 201]);
  }

  async putTrigger(id: string, trigger: JsonObject): Promise<void> {
    await this.call("PUT", `/teams/${TEAM}/triggers/${id}`, trigger, [200, 201]);
  }

  /** Sends an event, again and again until it is answered, as one delivery. @returns the run that it has started */
  async sendEvent(trigger: string, secret: string, payload: JsonObject): Promise<string> {
    const path = `/../in/local/${TEAM}/${trigger}`;
    const headers = { authorization: `Bearer ${secret}` };
    const answer = await this.call("POST", path, payload, [200, 202], headers);
    return (answer as { run: string }).run;
  }

  async deliveries(trigger: string): Promise<TriggerDelivery[]> {
    const path = `/teams/${TEAM}/triggers/${trigger}/deliveries`;
    const page = (await this.call("GET", path, undefined, [200])) as {
      deliveries: TriggerDelivery[];
    };
    return page.deliveries;
  }

  async call(
    method: string,
    path: string,
    body: unknown,
    expected: readonly number[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
    const key = crypto.randomUUID();
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      let answer: { status: number; text: string };
      try {
        const response = await fetch(`${this.#origin()}/v1${path}`, {
          method,
          headers: {
            ...more,
            ...(body !== undefined && { "content-type": "application/json" }),
            ...(method === "POST" && { "idempotency-key": key }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        answer = { status: response.status, text: await response.text() };
      } catch (error) {
        if (performance.now() > end) throw error;
        await this.#back();
        continue;
      }
      if (expected.includes(answer.status)) return JSON.parse(answer.text) as unknown;
      throw new UnexpectedAnswer(
        `${method} /v1${path} answered ${answer.status}: ${answer.text.slice(0, 500)}`,
      );
    }
  }
}
