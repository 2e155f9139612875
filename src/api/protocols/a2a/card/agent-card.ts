import type { TeamInfo } from "../../../../contract/team.ts";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import { LEGACY_VERSION, VERSION } from "../wire/version.ts";

const TEXTS = ["text/plain", "application/json", "text/markdown", "text/csv"];
const IMAGES = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** The server's part of the card. */
export interface CardServer {
  origin: string;
  pushNotifications: boolean;
}

interface Interface {
  url: string;
  protocolBinding: string;
  protocolVersion: string;
}

type AgentCard = ReturnType<typeof agentCard>;

/**
 * The agent card of a team, with the team's agents as its skills. No member is empty: the signed form leaves out empty members,
 * and some verifiers then miss the required ones.
 */
export function agentCard(
  { id, label, component, component_version }: TeamInfo,
  { origin, pushNotifications }: CardServer,
) {
  const { config } = component;
  const url = `${origin}/a2a/teams/${id}`;
  const at = { url, protocolBinding: "JSONRPC" };
  const interfaces: [Interface, ...Interface[]] = [
    { ...at, protocolVersion: VERSION },
    { url, protocolBinding: "HTTP+JSON", protocolVersion: VERSION },
    { ...at, protocolVersion: LEGACY_VERSION },
  ];
  const own = skillOf(component);
  const name = firstText([label, component.label, own?.name], id);
  const description = firstText([component.description, own?.description], `The team ${name}.`);
  const skills = skillsOf(component, config.participants);
  return {
    name,
    description,
    version: String(component_version),
    supportedInterfaces: interfaces,
    capabilities: { streaming: true, pushNotifications, extendedAgentCard: false },
    securitySchemes: { key: { httpAuthSecurityScheme: KEY } },
    securityRequirements: [{ schemes: { key: { list: SCOPES_FOR_ALL } } }],
    defaultInputModes: [...TEXTS, "application/pdf", ...IMAGES],
    defaultOutputModes: ["text/plain", "application/json", ...IMAGES],
    skills: skills.length > 0 ? skills : [{ id, name, description, tags: [NO_TAG] }],
  };
}

const KEY = { scheme: "Bearer", description: "A key of Troupe." };
/** The scopes of a key that may do all of it. */
const SCOPES_FOR_ALL = ["runs:read", "runs:write"];

/**
 * A card with the fields in which clients of 0.3 look for the interface and the security. They are not signed: a verifier that
 * decodes the card knows only those of 1.0.
 */
export function withLegacyFields(card: AgentCard): object {
  const [{ url }] = card.supportedInterfaces;
  return {
    ...card,
    url,
    preferredTransport: "JSONRPC",
    protocolVersion: "0.3.0",
    securitySchemes: { key: { ...card.securitySchemes.key, type: "http", ...KEY } },
    security: [{ key: SCOPES_FOR_ALL }],
  };
}

/** The tag of skills that have none of their own, because one is required. */
const NO_TAG = "agent";

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
  const name = wellFormed(config.name);
  if (name === "") return undefined;
  const kind = typeof provider === "string" ? provider.slice(provider.lastIndexOf(".") + 1) : "";
  return {
    id: name,
    name,
    description: firstText([config.description, description], name),
    tags: [firstText([kind], NO_TAG)],
  };
}

/** The first text that is not empty; `otherwise` if there is none. */
function firstText(given: readonly unknown[], otherwise: string): string {
  const text = given.find((one) => typeof one === "string" && one !== "");
  return wellFormed((text as string | undefined) ?? otherwise);
}

/** Replaces unpaired surrogates, which canonical JSON cannot have. */
function wellFormed(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}
