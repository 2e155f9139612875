import { expect, test } from "vitest";
import { nameTools } from "#api/protocols/mcp/tools/tool-names.ts";

/** Teams in the order in which they were created. */
function names(...teams: [id: string, label: string | null][]): Record<string, string> {
  const made = teams.map(([id, label], n) => ({ id, label, created_at: `2026-01-0${n + 1}` }));
  const entries = [...nameTools(made.toReversed())].flatMap(([name, tool]) =>
    "team" in tool ? [[tool.team.id, name]] : [],
  );
  return Object.fromEntries(entries) as Record<string, string>;
}

test("a tool is named by the label, else by the id", () => {
  expect(
    names(["a", "News desk"], ["b", null], ["c", "日本語"], ["d", " (x) / y-z! "], ["e", ""]),
  ).toEqual({ a: "run_News_desk", b: "run_b", c: "run_c", d: "run_x_y-z", e: "run_e" });
});

test("the oldest of several teams with one name keeps it", () => {
  expect(names(["a", "Desk"], ["b", "Desk"], ["Desk", null], ["c", "Desk b"])).toEqual({
    a: "run_Desk",
    b: "run_Desk_b",
    Desk: "run_Desk_Desk",
    c: "run_Desk_b_c",
  });
});

test("a name has at most 64 characters, unless the id alone has more", () => {
  const long = "x".repeat(200);
  const id = "i".repeat(64);
  const { a, b, [id]: c } = names(["a", long], ["b", long], [id, long]);
  expect(a).toBe(`run_${"x".repeat(60)}`);
  expect(b).toBe(`run_${"x".repeat(58)}_b`);
  expect(c).toBe(`run__${id}`);
  expect(names([id, null])).toEqual({ [id]: `run_${id}` });
});
