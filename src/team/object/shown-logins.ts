import type { TeamGateway } from "../../contract/gateways/team-gateway.ts";
import { type LoginSight, maySee, withLogin } from "../../contract/gateways/login-sight.ts";
import type { Result } from "../../contract/result.ts";
import type { HumanRequest } from "../../contract/run.ts";
import type { JsonObject } from "../../core/json.ts";

/** The methods that answer with a document of others, such as a state: it may have fields of the same names as a run. */
type OfOthers = {
  [Name in keyof TeamGateway]: TeamGateway[Name] extends (
    ...args: never[]
  ) => Promise<Result<infer Value>>
    ? JsonObject extends Value
      ? Name
      : never
    : never;
}[keyof TeamGateway];

const OF_OTHERS: Readonly<Record<OfOthers, true>> = {
  saveState: true,
  visibleState: true,
  kept: true,
};

/** An answer of a team, as far as it shows requests to humans. */
interface Shown {
  id?: string;
  requests?: HumanRequest[];
  runs?: Shown[];
}

/**
 * The team as a client sees it that may be given addresses of logins. Objects answer without them; they are asked for the
 * addresses when an answer has a request for such a login.
 */
export function withShownLogins<Team extends Asker["team"]>(team: Team, sight: LoginSight): Team {
  return new Proxy(team, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function" || Object.hasOwn(OF_OTHERS, name)) return method;
      return async (...args: unknown[]) => {
        // Not method.apply: a method of a stub has methods of its own.
        const answer = (await Reflect.apply(method, target, args)) as unknown;
        return isAnswer(answer)
          ? withVisibleLogins(answer, { team, sight, run: String(args[0]) })
          : answer;
      };
    },
  });
}

interface Asker {
  team: Pick<TeamGateway, "loginsOf">;
  sight: LoginSight;
  /** The run of a list of requests. */
  run: string;
}

function isAnswer(answer: unknown): answer is Result<Shown | HumanRequest[]> & { ok: true } {
  if (typeof answer !== "object" || answer === null || !("value" in answer)) return false;
  return typeof answer.value === "object" && answer.value !== null;
}

async function withVisibleLogins(
  answer: { ok: true; value: Shown | HumanRequest[] },
  asker: Asker,
): Promise<{ ok: true; value: Shown | HumanRequest[] }> {
  const { value } = answer;
  if (Array.isArray(value)) return { ...answer, value: await requestsOf(value, asker.run, asker) };
  return { ...answer, value: await runOf(value, asker) };
}

async function runOf(value: Shown, asker: Asker): Promise<Shown> {
  const { id = "", requests, runs } = value;
  return {
    ...value,
    ...(Array.isArray(requests) && { requests: await requestsOf(requests, id, asker) }),
    ...(Array.isArray(runs) && { runs: await Promise.all(runs.map((run) => runOf(run, asker))) }),
  };
}

async function requestsOf(
  requests: HumanRequest[],
  run: string,
  { team, sight }: Asker,
): Promise<HumanRequest[]> {
  if (!requests.some(({ login }) => login && maySee(sight, login))) return requests;
  const logins = await team.loginsOf(run);
  if (!logins.ok) return requests;
  return requests.map((request) => withLogin(request, logins.value[request.id], sight));
}
