import type { Issue } from "../core/errors.ts";
import { pathOf } from "../core/issues.ts";

/** Names of fields that say where a request goes: the URL or a part of it. */
const ADDRESS = /(url|uri|host|hostname|endpoint|server|address|domain|port|scheme)(e?s)?$/i;

export function isAddressName(name: string): boolean {
  return ADDRESS.test(name);
}

/** AutoGen's setting of a memory. No request is made to it, so it may have a password, which makes all of it a secret. */
export const REDIS_URL = "redis_url";

/** Parameters that say how a server is asked, not who asks. */
const HARMLESS = /^(api[_-]?version|version|v)$/i;

export function isHarmlessParameter(name: string): boolean {
  return HARMLESS.test(name);
}

/** Scheme, user info, address up to the query, query. */
const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?([^?#]*)(?:\?([^#]*))?/i;

/**
 * A URL in which `replace` has put another text for the user info and for each value of its query. Other texts stay as they
 * are. Values are replaced as they are written, so that a URL of which nothing is replaced comes out unchanged.
 *
 * @param replace gets the name of the part: `@` of the user info, `?key` of a value
 */
export function mapUrlSecrets(
  text: string,
  replace: (part: string, value: string) => string,
): string {
  const match = URL_PARTS.exec(text);
  if (match === null) return text;
  const [matched, scheme = "", user, address = "", query] = match;
  return [
    scheme,
    user === undefined || user === "" ? "" : `${replace("@", user)}@`,
    address,
    query === undefined ? "" : `?${mapQuery(query, replace)}`,
    text.slice(matched.length),
  ].join("");
}

function mapQuery(query: string, replace: (part: string, value: string) => string): string {
  const seen = new Map<string, number>();
  return query
    .split("&")
    .map((parameter) => {
      const equals = parameter.indexOf("=");
      const name = equals < 0 ? parameter : parameter.slice(0, equals);
      const value = equals < 0 ? "" : parameter.slice(equals + 1);
      if (value === "" || isHarmlessParameter(name)) return parameter;
      const times = seen.get(name) ?? 0;
      seen.set(name, times + 1);
      return `${name}=${replace(times === 0 ? `?${name}` : `?${name}[${times}]`, value)}`;
    })
    .join("&");
}

/** URLs with a user name or password, which no request may be sent with and which would be shown to every reader. */
export function userInfoIssues(value: unknown, path: string, name = ""): Issue[] {
  if (typeof value === "string") {
    return name !== REDIS_URL && isAddressName(name) && hasUserInfo(value)
      ? [{ path, message: USER_INFO }]
      : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    Array.isArray(value)
      ? userInfoIssues(item, pathOf([Number(key)], path), name)
      : userInfoIssues(item, pathOf([key], path), key),
  );
}

const USER_INFO =
  'must not contain a user name or password: remove the part before "@" and send the credentials in a header, for example default_headers: {"Authorization": "Basic ..."}';

function hasUserInfo(text: string): boolean {
  const user = URL_PARTS.exec(text)?.[2];
  return user !== undefined;
}
