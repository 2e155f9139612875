import { cookies } from "next/headers";
import { accessTo, CONVERSATION } from "../../../shared/server.ts";

/** A token that reads the customer's own conversation. It answers no approval. */
export async function POST(): Promise<Response> {
  const team = (await cookies()).get(CONVERSATION)?.value;
  if (team === undefined) return new Response(null, { status: 401 });
  return Response.json(await accessTo(team, ["teams:read", "runs:read"]));
}
