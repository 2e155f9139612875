export interface MeasureOptions {
  /** Little of everything, to see that the section works. Its figures mean nothing. */
  smoke?: boolean | undefined;
}

/** A measured figure and its target. */
export interface Goal {
  what: string;
  value: number;
  unit: string;
  /** At most, or at least, this much. */
  limit: { atMost: number } | { atLeast: number };
}

/** The results of a section. */
export interface Report {
  title: string;
  /** How it was measured, in a line or two. */
  method: string;
  /** One object per row, the columns being its keys. */
  rows: readonly { readonly [column: string]: string | number }[];
  goals: readonly Goal[];
}

export function isMet({ value, limit }: Goal): boolean {
  return "atMost" in limit ? value <= limit.atMost : value >= limit.atLeast;
}

export function printReport({ title, method, rows, goals }: Report): void {
  console.log(`\n## ${title}\n\n${method}\n`);
  if (rows.length > 0) console.log(`${table(rows)}\n`);
  for (const goal of goals) {
    const verdict = isMet(goal) ? "met   " : "MISSED";
    console.log(
      `${verdict} ${goal.what}: ${number(goal.value)} ${goal.unit} (goal: ${limitOf(goal)})`,
    );
  }
}

/** The goals as rows of a table. */
export function goalRows(goals: readonly Goal[]): Report["rows"] {
  return goals.map((goal) => ({
    goal: goal.what,
    measured: `${number(goal.value)} ${goal.unit}`,
    wanted: limitOf(goal),
    "": isMet(goal) ? "met" : "**missed**",
  }));
}

function limitOf({ limit }: Goal): string {
  return "atMost" in limit
    ? `at most ${number(limit.atMost)}`
    : `at least ${number(limit.atLeast)}`;
}

/** Numbers are shown with three digits that count. */
export function number(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/** A Markdown table. */
export function table(rows: Report["rows"]): string {
  const columns = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) =>
    columns.map((column) => {
      const value = row[column] ?? "";
      return typeof value === "number" ? number(value) : value;
    }),
  );
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((row) => (row[index] ?? "").length)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [line(columns), rule, ...cells.map(line)].join("\n");
}
