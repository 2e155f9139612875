import { describe, expect, test } from "vitest";
import { Catalog, ComponentRegistry, coreComponents, sandboxComponents } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import type { TeamInfo } from "#contract/team.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { jsonInit, testApp } from "../../../support/http-app.ts";

describe("teams", () => {
  test("are created with the requested id", async () => {
    const { fetch } = testApp();
    const body = {
      id: "my_team",
      label: "Mine",
      metadata: { a: [1] },
      component: SAMPLE_COMPONENT,
    };
    const response = await fetch("/v1/teams", jsonInit(body));
    expect(response.status).toBe(201);
    expect(response.headers.get("location")).toBe("/v1/teams/my_team");
    expect(await response.json()).toMatchObject({ ...body, component_version: 1, status: "idle" });
  });

  test("get a random id if the request has none", async () => {
    const { fetch } = testApp();
    const ids = await Promise.all(
      [1, 2].map(async () => {
        const response = await fetch("/v1/teams", jsonInit({ template: "sample" }));
        return ((await response.json()) as TeamInfo).id;
      }),
    );
    expect(ids[0]).toMatch(/^[\w-]{22}$/);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test("are found again by the same idempotency key and refused for another body", async () => {
    const { fetch } = testApp();
    const key = { "idempotency-key": "once" };
    const create = async (label: string): Promise<Response> =>
      fetch("/v1/teams", jsonInit({ template: "sample", label }, "POST", key));
    const [first, second] = [await create("a"), await create("a")];
    expect(first.status).toBe(201);
    expect(await second.json()).toEqual(await first.json());
    const third = await create("b");
    expect(third.status).toBe(422);
    expect(await third.json()).toMatchObject({ code: "idempotency_key_reused" });
  });

  test("have notes on substitutes for parts of their component", async () => {
    const components = new ComponentRegistry().register(
      ...coreComponents(new Catalog()),
      ...sandboxComponents({ url: "https://sandbox.example" }),
    );
    const { fetch } = testApp({ components });
    const component = {
      provider: "CodeExecutorAgent",
      config: {
        name: "runner",
        code_executor: { provider: "JupyterCodeExecutor", config: { output_dir: "out" } },
      },
    };
    const place = "component.config.code_executor";
    const notes = [
      { path: `${place}.provider`, message: expect.stringContaining("sandbox") as string },
      { path: `${place}.provider`, message: expect.stringContaining("variables") as string },
      { path: `${place}.config.output_dir`, message: "has no effect in the sandbox" },
    ];
    for (const [path, init] of [
      ["", jsonInit({ id: "t", component })],
      ["/t", {}],
      ["/t/component", jsonInit({ component }, "PUT")],
      ["/t/reset", jsonInit({})],
      ["/t/fork", jsonInit({ id: "f" })],
    ] as const) {
      const response = await fetch(`/v1/teams${path}`, init);
      expect(await response.json()).toMatchObject({ notes });
    }
    const valid = await fetch("/v1/components/validate", jsonInit({ component }));
    expect(await valid.json()).toEqual({ valid: true, notes });
  });

  test("are not created from a template whose requirements the server does not meet", async () => {
    const components = new ComponentRegistry().register(
      ...coreComponents(new Catalog()),
      ...sandboxComponents(undefined),
    );
    const component = {
      provider: "CodeExecutorAgent",
      config: { name: "a", code_executor: { provider: "SandboxCodeExecutor", config: {} } },
    };
    const templates = [{ name: "runner", description: "Runs code.", component }];
    const { fetch } = testApp({ components, templates: async () => templates });
    const response = await fetch("/v1/teams", jsonInit({ id: "t", template: "runner" }));
    expect(response.status).toBe(422);
    expect(JSON.stringify(await response.json())).toContain("SANDBOX_URL");
    expect((await fetch("/v1/teams/t")).status).toBe(404);
  });

  test("can be read, replaced, reset, loaded and deleted", async () => {
    const { fetch } = testApp();
    await fetch("/v1/teams", jsonInit({ id: "t", template: "sample" }));
    const replaced = await fetch(
      "/v1/teams/t/component",
      jsonInit({ component: SAMPLE_COMPONENT }, "PUT"),
    );
    expect(await replaced.json()).toMatchObject({ component_version: 2 });
    expect((await fetch("/v1/teams/t/reset", { method: "POST" })).status).toBe(200);
    expect((await fetch("/v1/teams/t/reset", jsonInit({}))).status).toBe(200);
    const state = await (await fetch("/v1/teams/t/state")).json();
    expect((await fetch("/v1/teams/t/state", jsonInit(state, "PUT"))).status).toBe(204);
    expect((await fetch("/v1/teams/t", { method: "DELETE" })).status).toBe(204);
    expect((await fetch("/v1/teams/t")).status).toBe(404);
  });

  test("have an ETag, without which their component is not replaced where If-Match names one", async () => {
    const { fetch } = testApp();
    const created = await fetch("/v1/teams", jsonInit({ id: "t", template: "sample" }));
    expect(created.headers.get("etag")).toBe('"1"');
    expect((await fetch("/v1/teams/t")).headers.get("etag")).toBe('"1"');
    const replace = (tags?: string): Promise<Response> =>
      fetch(
        "/v1/teams/t/component",
        jsonInit(
          { component: SAMPLE_COMPONENT },
          "PUT",
          tags === undefined ? {} : { "if-match": tags },
        ),
      );
    const replaced = await replace('"1"');
    expect([replaced.status, replaced.headers.get("etag")]).toEqual([200, '"2"']);

    const stale = await replace('"1", "07"');
    expect(stale.status).toBe(412);
    expect(await stale.json()).toMatchObject({ code: "component_replaced" });
    expect((await fetch("/v1/teams/t")).headers.get("etag")).toBe('"2"');

    // A proxy that compresses makes the tag a weak one.
    for (const tags of ['W/"2"', '"3", "1"', ' "1" , W/"4"', "*", undefined]) {
      expect((await replace(tags)).status, tags).toBe(200);
    }
    for (const tags of ["6", '"6', "", "*, *", '"6" "7"']) {
      const refused = await replace(tags);
      expect(refused.status, tags).toBe(422);
      expect(await refused.json()).toMatchObject({
        code: "invalid_if_match",
        errors: [{ path: "If-Match", message: expect.stringContaining('such as "3"') as string }],
      });
    }
    expect((await fetch("/v1/teams/t")).headers.get("etag")).toBe('"7"');
  });

  test("whose component was replaced are not blamed for the secrets that it lacks", async () => {
    const { fetch } = testApp();
    await fetch("/v1/teams", jsonInit({ id: "t", template: "sample" }));
    const component = structuredClone(SAMPLE_COMPONENT) as { config: Record<string, unknown> };
    component.config["headers"] = { authorization: "**********" };
    const init = (tag: string): RequestInit => jsonInit({ component }, "PUT", { "if-match": tag });
    expect((await fetch("/v1/teams/t/component", init('"1"'))).status).toBe(422);
    expect((await fetch("/v1/teams/t/component", init('"2"'))).status).toBe(412);
  });

  test("are forked under an id of their own, once per key", async () => {
    const { fetch } = testApp();
    for (const id of ["t", "u"]) {
      await fetch("/v1/teams", jsonInit({ id, template: "sample", label: "Mine" }));
    }
    const fork = (body: unknown, key?: string, team = "t"): Promise<Response> =>
      fetch(
        `/v1/teams/${team}/fork`,
        jsonInit(body, "POST", key === undefined ? {} : { "idempotency-key": key }),
      );
    const named = await fork({ id: "copy", turn: 0 });
    expect(named.status).toBe(201);
    expect(named.headers.get("location")).toBe("/v1/teams/copy");
    expect(await named.json()).toMatchObject({ id: "copy", label: "Mine" });

    expect((await fetch("/v1/teams/t/fork", { method: "POST" })).status).toBe(201);
    const idOf = async (answer: Response): Promise<string> =>
      ((await answer.json()) as TeamInfo).id;
    const once = await idOf(await fork({}, "k"));
    expect(once).toMatch(/^[\w-]{22}$/);
    expect(await idOf(await fork({}, "k"))).toBe(once);
    expect((await fork({ turn: 0 }, "k")).status).toBe(422);
    expect(await idOf(await fork({}, "k", "u"))).not.toBe(once);
    expect((await fork({ id: "v", turn: 0 }, "l")).status).toBe(201);
    expect((await fork({ id: "v", turn: 0 }, "l", "u")).status).toBe(422);

    for (const body of [{ turn: -1 }, { turn: 0.5 }, { turn: "1" }, { id: "no/id" }, { at: 1 }]) {
      expect((await fork(body)).status).toBe(422);
    }
    expect((await fork({ turn: 9 })).status).toBe(422);
    expect((await fork({}, undefined, "nobody")).status).toBe(404);
  });

  test("list their messages in pages, with defaults and with parameters", async () => {
    const { fetch } = testApp();
    await fetch("/v1/teams", jsonInit({ id: "t", template: "sample" }));
    const page = async (query: string): Promise<unknown> =>
      (await fetch(`/v1/teams/t/messages${query}`)).json();
    expect(await page("")).toEqual({ messages: [], next_after: 50, next_before: null });
    expect(await page("?after=7&limit=200")).toMatchObject({ next_after: 207 });
    expect(await page("?before=9&limit=1")).toMatchObject({ next_before: 9 });
  });
});

describe("a problem of the gateway", () => {
  test("is answered with its other members and Retry-After", async () => {
    const { fetch, gateway } = testApp();
    await fetch("/v1/teams", jsonInit({ id: "t", template: "sample" }));
    const first = (await (await fetch("/v1/teams/t/runs", jsonInit({}))).json()) as RunInfo;
    const busy = await fetch("/v1/teams/t/runs", jsonInit({}));
    expect(busy.status).toBe(409);
    expect(await busy.json()).toEqual({
      type: "urn:troupe:problem:team_busy",
      title: "Team busy",
      status: 409,
      detail: "refused: team_busy",
      code: "team_busy",
      run_id: first.id,
    });
    gateway.failure = Object.assign(new Error("Durable Object is overloaded."), {
      overloaded: true,
    });
    const overloaded = await fetch("/v1/teams/t");
    expect(overloaded.status).toBe(503);
    expect(overloaded.headers.get("retry-after")).toBe("1");
  });

  test("is logged and not shown when Troupe is at fault", async () => {
    const { fetch, gateway, logged } = testApp();
    gateway.failure = new Error("secret detail");
    const response = await fetch("/v1/teams/t");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret detail");
    expect(logged.join()).toContain("secret detail");
  });
});
