import { defineTeam, dumpComponent, registerTool } from "troupe";
import { demoModel as model } from "./models.ts";
import { openingHours } from "./opening-hours.ts";
import { townGuide } from "./team.ts";

registerTool(openingHours);

defineTeam({
  name: "town_guide",
  description: "Answers questions about opening hours in town.",
  component: dumpComponent(townGuide(model())),
});

export { default, MemoryObject, TeamObject, TenantObject } from "troupe/worker";
