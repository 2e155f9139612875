// A Worker whose program uses the names of the shipped templates and their tools.
import { defineTeam, FunctionTool, registerTool } from "troupe";

export { default, MemoryObject, TeamObject, TenantObject } from "troupe/worker";

for (const name of ["calculator", "current_time"]) {
  registerTool(
    new FunctionTool({
      name,
      description: `The program's own ${name}.`,
      parameters: { type: "object", properties: {} },
      execute: () => name,
    }),
  );
}
defineTeam({
  name: "writer_critic",
  description: "The program's own team.",
  component: {
    provider: "autogen_agentchat.agents.UserProxyAgent",
    config: { name: "own", description: "A human." },
  },
});
