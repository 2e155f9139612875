// A session in a signed cookie: who it is and when it ends, with an HMAC-SHA-256 that only the Worker can make.
import { parseSigned, serializeSigned } from "hono/utils/cookie";

const NAME = "session";
const SECONDS = 86_400;

/** The header `Set-Cookie` after a sign-in. */
export function sessionFor(user: string, secret: string): Promise<string> {
  const ends = Math.floor(Date.now() / 1000) + SECONDS;
  return serializeSigned(NAME, `${ends}.${user}`, secret, {
    httpOnly: true, // no script reads it
    secure: true,
    sameSite: "Lax", // pages of other sites send no requests with it that change anything
    path: "/",
    maxAge: SECONDS,
  });
}

/** The user of a request; undefined without a session, and with one that is forged or over. */
export async function userOf(request: Request, secret: string): Promise<string | undefined> {
  const cookies = await parseSigned(request.headers.get("cookie") ?? "", secret, NAME);
  const [, ends, user] = /^(\d+)\.(.+)$/.exec(cookies[NAME] || "") ?? [];
  return Number(ends) * 1000 > Date.now() ? user : undefined;
}
