import type { Locator, Page, Route } from "playwright-core";
import type { ListedRequest } from "troupe/client";

const SOON = 3_600_000;

/** A question as the API lists it. */
export function asked(id: string, more: Partial<ListedRequest>): ListedRequest {
  return {
    id,
    kind: "input",
    source: "clerk",
    prompt: "Which one?",
    team_id: `team-${id}`,
    team_label: `Desk ${id}`,
    run_id: "run",
    task: "Refund order A7 of Ann Lee.",
    said: { source: "clerk", text: "I **think** so." },
    truncated: false,
    created_at: new Date(Date.now() - 60_000).toISOString(),
    expires_at: null,
    ...more,
  };
}

function form(message: string, schema: object, more: object = {}): Partial<ListedRequest> {
  return {
    prompt: `${message} Answer with a JSON object.`,
    form: { message, schema: { type: "object", ...schema }, cancel: true, ...more },
  };
}

export const FIELDS = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", minLength: 2, description: "Of the customer" },
    mail: { type: "string", title: "Mail", format: "email" },
    amount: { type: "number", title: "Amount", minimum: 1, maximum: 100 },
    count: { type: "integer", title: "Count", default: 3 },
    urgent: { type: "boolean", title: "Urgent" },
    day: { type: "string", title: "Day", format: "date" },
    size: { type: "string", title: "Size", enum: ["s", "m"], enumNames: ["Small", "Medium"] },
    tags: { type: "array", title: "Tags", items: { type: "string", enum: ["new", "old"] } },
    address: {
      type: "object",
      title: "Address",
      properties: { city: { type: "string", title: "City" } },
    },
  },
  required: ["name", "urgent"],
};

export const calling = (more: object): ListedRequest["tool_call"] => ({
  name: "refund",
  arguments: { order: "A7", amount: 499, ...more },
});

/** A question of each kind, in the order in which they are listed. */
export const KINDS: ListedRequest[] = [
  asked("text", {
    expires_at: new Date(Date.now() + SOON).toISOString(),
    default_answer: { content: "the first" },
  }),
  asked("form", form("Who is it?", FIELDS)),
  asked(
    "choice",
    form("Which colour?", { properties: { colour: { type: "string", enum: ["red", "blue"] } } }),
  ),
  asked("sure", form("**Go on?**", {})),
  asked("page", form("Pay there.", {}, { url: "https://pay.example.com/x" })),
  asked("approval", {
    kind: "approval",
    tool_call: calling({ note: "long ".repeat(60), to: { bank: "X", lines: [1, 2] } }),
  }),
  asked("code", { kind: "approval", code: "```python\nprint(1)\n```" }),
  asked("login", {
    prompt: "The server needs a login.",
    login: { server: "mcp.example.com", user: null },
    url: "https://login.example.com/x",
  }),
  asked("tool", { kind: "tool", tool_call: calling({}) }),
];

/** Opens the inbox with questions that the API would list. Returns the answers, which are refused. */
export async function listQuestions(
  page: Page,
  origin: string,
  requests: readonly ListedRequest[],
): Promise<unknown[]> {
  const answers: unknown[] = [];
  await page.route("**/v1/requests?*", (route: Route) =>
    route.fulfill({ json: { requests, next_cursor: null } }),
  );
  await page.route("**/v1/teams/*/runs/*/requests/*", (route: Route) => {
    answers.push(route.request().postDataJSON());
    return route.fulfill({ status: 503, json: { detail: "Not now.", code: "unavailable" } });
  });
  await page.goto(`${origin}/inbox`);
  await page.locator(".requests > li").first().waitFor();
  return answers;
}

export function cardOf(page: Page, label: string): Locator {
  return page.locator(".requests > li", { hasText: `Desk ${label}` });
}
