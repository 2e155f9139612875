import { expect, test } from "vitest";
import type { Endpoint } from "#api/http/endpoint/endpoint.ts";
import { Routing } from "#api/http/app.ts";

function endpoint(method: Endpoint["method"], path: string): Endpoint {
  const handle = async (): Promise<Response> => new Response();
  return { method, path, id: path, summary: "", tag: "Runs", scope: null, answers: {}, handle };
}

/** A routing of three modules, and the names of those that it has loaded. */
function modules(): { routing: Routing; loaded: string[] } {
  const loaded: string[] = [];
  const module = (name: string, below: string, endpoints: Endpoint[]) => ({
    below: [below],
    load: async () => {
      loaded.push(name);
      return endpoints;
    },
  });
  const routing = new Routing([
    module("runs", "/v1/teams", [endpoint("get", "/v1/teams/:team/runs/:run")]),
    module("keys", "/v1", [
      endpoint("delete", "/v1/teams/:team/runs/:run"),
      endpoint("get", "/v1/files/:path{[^]+}"),
    ]),
    module("mcp", "/mcp", [endpoint("post", "/mcp")]),
  ]);
  return { routing, loaded };
}

test("a request imports modules at its path until one has its endpoint, each once", async () => {
  const { routing, loaded } = modules();
  const [found, again] = await Promise.all([
    routing.match("GET", "/v1/teams/a/runs/b%20c"),
    routing.match("GET", "/v1/teams/a/runs/d"),
  ]);
  expect(found?.parameters).toEqual({ team: "a", run: "b c" });
  expect(again?.parameters).toEqual({ team: "a", run: "d" });
  expect(loaded).toEqual(["runs"]);
  const file = await routing.match("GET", "/v1/files/data/x.csv");
  expect(file?.parameters).toEqual({ path: "data/x.csv" });
  expect((await routing.match("DELETE", "/v1/teams/a/runs/b"))?.endpoint.method).toBe("delete");
  expect(loaded).toEqual(["runs", "keys"]);
});

test("a path that only begins like a module's does not belong to it", async () => {
  const { routing, loaded } = modules();
  expect(await routing.match("POST", "/mcp-tools")).toBeUndefined();
  expect(await routing.methods("/v2")).toEqual([]);
  expect(loaded).toEqual([]);
});

test("the methods of a path are those of all modules at its path", async () => {
  const { routing, loaded } = modules();
  expect(await routing.match("PUT", "/v1/teams/a/runs/b")).toBeUndefined();
  expect(await routing.methods("/v1/teams/a/runs/b")).toEqual(["GET", "DELETE"]);
  expect(loaded).toEqual(["runs", "keys"]);
  expect((await routing.all()).length).toBe(4);
});
