import type { ToolOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import { refuse, type Refused } from "../../contract/result.ts";
import type { PutTeamTool, TeamTool } from "../../contract/team-tool.ts";
import type { TenantLimits } from "../../contract/tenant/tenant.ts";
import { limitReached } from "../../contract/tenant/tenant-limits.ts";
import { beginningOf } from "../../core/cut.ts";
import type { Database } from "../../sqlite/database.ts";

const LONGEST_NAME = 64;
/** The names of Troupe's own tools. */
const OWN = /^(?:run_.*|list_teams|get_run|read_run|answer_request|stop_run)$/;

interface Row extends Record<string, string> {
  name: string;
  team: string;
  record: string;
}

/** The own tools of teams, by their names, which are unique in the tenant. */
export class ToolStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get count(): number {
    return this.#db.first<{ n: number }>("select count(*) as n from tool")?.n ?? 0;
  }

  of(team: string): TeamTool | undefined {
    const row = this.#db.first<{ record: string }>("select record from tool where team = ?", team);
    return row && (JSON.parse(row.record) as TeamTool);
  }

  /** The part of a tool that lists of teams show. */
  summaryOf(team: string): Pick<TeamTool, "name" | "description" | "updated_at"> | undefined {
    const tool = this.of(team);
    if (tool === undefined) return undefined;
    const { name, description, updated_at } = tool;
    return { name, description, updated_at };
  }

  named(name: string): ToolOfTeam | undefined {
    const row = this.#db.first<Row>("select name, team, record from tool where name = ?", name);
    return row && toolOf(row);
  }

  /** Those whose names follow this one, in their order. */
  *after(name: string): Iterable<ToolOfTeam> {
    const rows = this.#db.each<Row>(
      "select name, team, record from tool where name > ? order by name",
      [name],
      (last) => [last.name],
    );
    for (const row of rows) yield toolOf(row);
  }

  /** Why a team cannot have a tool of this name. */
  refuse(team: string, { name }: Pick<PutTeamTool, "name">, path = "name"): Refused | undefined {
    if (OWN.test(name)) {
      const message = "must not be a name of Troupe's own tools, such as list_teams or run_desk";
      return nameTaken(`"${name}" is a name of Troupe's own tools.`, { path, message });
    }
    const owner = this.named(name)?.team;
    if (owner === undefined || owner === team) return undefined;
    return nameTaken(`Another team of the tenant has a tool with the name "${name}".`, {
      path,
      message: "must be a name that no other team's tool has",
    });
  }

  /** Why a team cannot have a tool if it has none yet: its tenant has as many as it may have. */
  refuseMore(team: string, { team_tools: value }: TenantLimits): Refused | undefined {
    if (this.of(team) !== undefined || this.count < value) return undefined;
    const remedy = "Delete tools of teams that are not used, or have the limit raised.";
    return limitReached("team_tools", { limit: "team_tools", value, seconds: 60, remedy });
  }

  /** Sets the tool of a team. @param isCopy the next free name is taken if another team has this one */
  put(team: string, tool: PutTeamTool, now: number, isCopy: boolean): TeamTool {
    const name = isCopy ? this.#freeName(team, tool.name) : tool.name;
    const { output_schema = null } = tool;
    const record: TeamTool = {
      ...tool,
      name,
      output_schema,
      updated_at: new Date(now).toISOString(),
    };
    this.drop(team);
    this.#db.write("insert into tool values (?, ?, ?)", name, team, JSON.stringify(record));
    return record;
  }

  drop(team: string): void {
    if (this.#db.first("select 1 as found from tool where team = ?", team) !== undefined) {
      this.#db.write("delete from tool where team = ?", team);
    }
  }

  /** `review`, `review_2`, `review_3`: names of copies. */
  #freeName(team: string, name: string): string {
    const base = name.replace(/_\d{1,9}$/, "");
    for (let wanted = name, count = 2; ; count++) {
      const owner = this.named(wanted)?.team;
      if (owner === undefined || owner === team) return wanted;
      const ending = `_${count}`;
      wanted = beginningOf(base, LONGEST_NAME - ending.length) + ending;
    }
  }
}

function toolOf({ team, record }: Row): ToolOfTeam {
  return { team, tool: JSON.parse(record) as TeamTool };
}

function nameTaken(detail: string, error: { path: string; message: string }): Refused {
  const { problem } = refuse(409, "tool_name_taken", detail);
  return { ok: false, problem: { ...problem, errors: [error] } };
}
