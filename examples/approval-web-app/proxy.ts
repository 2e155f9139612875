import { NextResponse, type NextRequest } from "next/server";

/** The pages and tokens of clerks need their password. A real site has its own sign-in. */
export function proxy(request: NextRequest): NextResponse {
  const password = process.env.CLERK_PASSWORD;
  const credentials = `Basic ${btoa(`clerk:${password}`)}`;
  if (password && request.headers.get("authorization") === credentials) return NextResponse.next();
  return new NextResponse(null, { status: 401, headers: { "www-authenticate": "Basic" } });
}

export const config = { matcher: ["/clerk/:path*", "/api/clerk/:path*"] };
