// Asks the desk as a customer: npx node examples/desk/ask.ts USER QUESTION
import { toText } from "troupe";
import type { RunInfo } from "troupe/client";

const [user, task] = process.argv.slice(2);
if (user === undefined || task === undefined) throw new Error("Usage: ask.ts USER QUESTION");

const url = process.env["TROUPE_URL"] ?? "http://127.0.0.1:8787";

/** What the page of the site does, with the session's cookie as a browser sends it. */
async function post(path: string, body: object, cookie = ""): Promise<Response> {
  const headers = { "content-type": "application/json", cookie };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(new URL(path, url), init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

const signedIn = await post("/sign-in", { user });
const [cookie] = signedIn.headers.get("set-cookie")?.split(";") ?? [];
const { id } = (await (await post("/conversations", {}, cookie)).json()) as { id: string };
const asked = await post(`/agents/v1/teams/${id}/runs?wait=60`, { task }, cookie);
const { error, result } = (await asked.json()) as RunInfo;
if (error !== null) throw new Error(error.message);
const answer = result?.messages.at(-1);
if (answer !== undefined) console.log(`${answer.source}: ${toText(answer)}`);
