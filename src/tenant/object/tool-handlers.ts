import type { ToolOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import { ok, refuse, temporarilyUnavailable } from "../../contract/result.ts";
import { beingDeleted } from "./tenant-handlers.ts";
import type { TenantHandlers } from "./tenant-methods.ts";

/** The own tools of teams for clients of MCP. */
export const toolHandlers = {
  putTool({ tenant: holder }, team, tool) {
    const { tenant, directory, reservations } = holder.hold();
    if (tenant.record.deleting) return beingDeleted();
    if (!reservations.isKnown(team)) {
      return temporarilyUnavailable("The tenant does not list the team yet. Try again.");
    }
    const refused =
      directory.tools.refuse(team, tool) ?? directory.tools.refuseMore(team, holder.limits());
    if (refused) return refused;
    const now = Date.now();
    const { stored, changes } = holder.db.transaction(() => ({
      stored: directory.tools.put(team, tool, now, false),
      changes: directory.moved(team, now),
    }));
    holder.feed.announce(changes, directory);
    return ok(stored);
  },

  tool: ({ tenant: { parts } }, team) => parts?.tools.of(team) ?? null,

  deleteTool({ tenant: holder }, team) {
    const { parts } = holder;
    if (parts?.tools.of(team) === undefined) {
      return refuse(404, "tool_not_found", "The team has no tool of its own.");
    }
    const changes = holder.db.transaction(() => {
      parts.tools.drop(team);
      return parts.directory.moved(team, Date.now());
    });
    holder.feed.announce(changes, parts.directory);
    return ok(null);
  },

  tools({ tenant: { parts } }, { after, limit, team_user }) {
    const found: ToolOfTeam[] = [];
    for (const one of parts?.tools.after(after) ?? []) {
      if (team_user !== undefined && parts?.directory.activityOf(one.team).user !== team_user)
        continue;
      found.push(one);
      if (found.length === limit) break;
    }
    return found;
  },

  toolNamed: ({ tenant: { parts } }, name) => parts?.tools.named(name) ?? null,
} satisfies Partial<TenantHandlers>;
