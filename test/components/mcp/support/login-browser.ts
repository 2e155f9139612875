/** A browser at the pages of a login: it keeps cookies by their origin, and sends forms as browsers do. */
export class LoginBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();
  /** The last `Set-Cookie`. */
  setCookie = "";
  readonly #placeOf: (url: string) => string;

  /** @param placeOf where an address is served, if not there */
  constructor(placeOf: (url: string) => string = (url) => url) {
    this.#placeOf = placeOf;
  }

  /** What a page says. */
  async read(url: string): Promise<Response> {
    const { origin } = new URL(url);
    const cookies = [...(this.#cookies.get(origin) ?? [])].map((pair) => pair.join("="));
    const headers = { cookie: cookies.join("; ") };
    return fetch(this.#placeOf(url), { redirect: "manual", headers });
  }

  /** Continues on the page of a login. @returns where it leads to */
  async continue(page: string): Promise<URL> {
    const { origin } = new URL(page);
    const headers = { origin, "sec-fetch-site": "same-origin" };
    const init = { method: "POST", redirect: "manual", headers } as const;
    const response = await fetch(this.#placeOf(page), init);
    if (response.status !== 303) throw new Error(`${response.status} ${await response.text()}`);
    this.setCookie = response.headers.get("set-cookie") ?? "";
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(this.setCookie) ?? [];
    const own = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, own.set(name, value));
    return new URL(response.headers.get("location") ?? "");
  }

  /** Opens the page, continues, and logs in where the authorization server asks nothing. @returns where it sends the browser back to */
  async signIn(page: string): Promise<string> {
    const asked = await this.read((await this.continue(page)).href);
    return asked.headers.get("location") ?? "";
  }

  /** Logs in, and comes back. */
  async logIn(page: string): Promise<Response> {
    return this.read(await this.signIn(page));
  }
}
