import { accessTo } from "../../../../shared/server.ts";

/** A token that reads a conversation and answers its questions. proxy.ts has checked that a clerk asks. */
export async function POST(request: Request): Promise<Response> {
  const team = new URL(request.url).searchParams.get("team");
  if (team === null) return new Response(null, { status: 400 });
  return Response.json(await accessTo(team, ["teams:read", "runs:read", "requests:write"]));
}
