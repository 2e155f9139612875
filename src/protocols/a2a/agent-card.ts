import type { TeamInfo } from "../../contract/team.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { VERSION } from "./wire.ts";

const IMAGES = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** The agent that a team is, to those who look for one: its agents are its skills. */
export function agentCard(
  { id, label, component, component_version }: TeamInfo,
  origin: string,
): object {
  const { config } = component;
  const own = skillOf(component);
  const name = label ?? component.label ?? own?.name ?? id;
  return {
    name,
    description: component.description ?? own?.description ?? `The team ${name}.`,
    version: String(component_version),
    supportedInterfaces: [
      { url: `${origin}/a2a/teams/${id}`, protocolBinding: "JSONRPC", protocolVersion: VERSION },
    ],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    securitySchemes: {
      key: { httpAuthSecurityScheme: { scheme: "Bearer", description: "A key of Troupe." } },
    },
    securityRequirements: [{ schemes: { key: { list: [] } } }],
    defaultInputModes: ["text/plain", "application/json", ...IMAGES],
    defaultOutputModes: ["text/plain", "application/json", ...IMAGES],
    skills: skillsOf(component, config.participants),
  };
}

interface Skill {
  id: string;
  name: string;
  description: string;
  tags: string[];
}

/** One for each agent, also those of inner teams; an agent by itself is its only one. */
function skillsOf(component: JsonObject, participants: unknown): Skill[] {
  const members = Array.isArray(participants) ? participants : [component];
  const skills = new Map<string, Skill>();
  for (const member of members.filter(isJsonObject)) {
    const config = isJsonObject(member.config) ? member.config : {};
    const inner = Array.isArray(config.participants)
      ? skillsOf(member, config.participants)
      : [skillOf(member)].filter((skill) => skill !== undefined);
    for (const skill of inner) if (!skills.has(skill.id)) skills.set(skill.id, skill);
  }
  return [...skills.values()];
}

function skillOf({ provider, description, config }: JsonObject): Skill | undefined {
  if (!isJsonObject(config) || typeof config.name !== "string") return undefined;
  const { name } = config;
  const kind = typeof provider === "string" ? provider.slice(provider.lastIndexOf(".") + 1) : "";
  const said = [config.description, description].find((text) => typeof text === "string");
  return { id: name, name, description: said ?? name, tags: kind === "" ? [] : [kind] };
}
