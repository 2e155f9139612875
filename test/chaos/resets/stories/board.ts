import type { JsonObject } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import type { TasksOfTeam } from "#contract/team/board.ts";
import { assistant, component, person, roundRobin } from "../../scenarios/components.ts";
import type { Session } from "../session.ts";
import { completed, same, type Story } from "./story.ts";

const PLANNER = "board_planner";

async function tasksOf(session: Session, team: string): Promise<string[]> {
  const { tasks } = await session.get<TasksOfTeam>(`/teams/${team}/tasks`);
  return tasks.map(({ title, state, owner }) => `${title} ${state} ${owner ?? "-"}`);
}

/** People change the board of an idle team and of one in the middle of a run, and an agent changes it, too. */
export const BOARD: Story = {
  name: "a board of tasks",
  rules: [
    {
      name: "plans",
      match: { system: `You are ${PLANNER}.`, role: "user" },
      reply: { tool_calls: [{ name: "add_task", arguments: { title: "Cook" } }] },
    },
  ],
  async happens(session) {
    const memory = component("troupe.memory.TaskBoard", {}) as unknown as JsonObject;
    const agents = [
      person("person"),
      assistant({ model: session.options.fake.url }, PLANNER, {
        memory: [memory],
        max_tool_iterations: 2,
      }),
    ];
    await session.post("/teams", { id: "board", component: roundRobin(agents, 2) });
    await session.post("/teams/board/tasks", { title: "Buy food" });
    const { id } = await session.post<RunInfo>("/teams/board/runs", { task: "Plan." });
    const path = `/teams/board/runs/${id}`;
    let open: { id: string } | undefined;
    await session.until("the run asks", async () => {
      [open] = (await session.get<RunInfo>(path)).requests;
      return open !== undefined;
    });
    await session.post("/teams/board/tasks", { title: "Set the table" });
    await session.call("PATCH", "/teams/board/tasks/p1", { state: "done" }, [200]);
    await session.post(`${path}/requests/${open?.id}`, { content: "Go on." });
    await completed(session, "board", id);
    const expected = ["Buy food done -", "Set the table open -", "Cook open -"];
    same("the board", await tasksOf(session, "board"), expected);
    await session.post("/teams/board/fork", { id: "board-fork" });
    same("the board of the fork", await tasksOf(session, "board-fork"), expected);
  },
};
