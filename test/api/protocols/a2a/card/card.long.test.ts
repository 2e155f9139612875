import { AgentCard, canonicalizeAgentCard, verifyAgentCardSignature } from "@a2a-js/sdk";
import { DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import canonicalize from "canonicalize";
import { createLocalJWKSet, exportJWK, flattenedVerify, generateKeyPair, type JWK } from "jose";
import { describe, expect, test } from "vitest";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { HUMAN, newTeam } from "../../support/teams.ts";
import { withoutLegacy } from "../support/legacy-card.ts";

const SECRETS = { SECRETS_KEY: btoa("k".repeat(32)) };
const CARD = "/a2a/teams/desk/.well-known/agent-card.json";

interface SignedCard {
  name: string;
  signatures: [{ protected: string; signature: string }];
}

async function newKey(alg: "ES256" | "EdDSA", more: object = {}): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), ...more };
}

async function get<T>(worker: TestWorker, path: string): Promise<T> {
  const response = await worker.fetch(path);
  expect(response.status, path).toBe(200);
  return (await response.json()) as T;
}

/** Where the public key of a card is, and its id. */
function headerOf({ signatures: [signature] }: SignedCard) {
  const text = Buffer.from(signature.protected, "base64url").toString();
  return JSON.parse(text) as { alg: string; kid: string; jku: string; typ: string };
}

/**
 * As another system would: with the key that the card names. The verifier decodes the card, so it takes the JSON: of a
 * decoded one it would lose the security schemes.
 *
 * @throws unless the signature is good
 */
async function verify(card: object): Promise<void> {
  const check = verifyAgentCardSignature(async (kid, jku = "") => {
    const { keys } = (await (await fetch(jku)).json()) as { keys: JWK[] };
    return keys.find((key) => key.kid === kid) ?? {};
  });
  return check(card as AgentCard);
}

describe.each(["ES256", "EdDSA"] as const)("cards that %s signs", (alg) => {
  test("are verified by the official verifier, unless they were changed", async () => {
    const key = await newKey(alg, { kid: "cards-1", use: "sig" });
    const settings = { ...SECRETS, A2A_CARD_KEY: JSON.stringify(key), A2A_TEAM: "local/desk" };
    await using worker = await TestWorker.start(settings);
    await newTeam(worker, { id: "desk", label: "Dépêches 📰", component: SAMPLE_COMPONENT });
    const card = await get<SignedCard>(worker, CARD);
    expect(headerOf(card)).toEqual({
      alg,
      kid: "cards-1",
      jku: `${await worker.origin}/a2a/jwks.json`,
      typ: "JOSE",
    });
    await verify(card);
    const resolver = new DefaultAgentCardResolver();
    const resolved = await resolver.resolve(await worker.origin, CARD.slice(1));
    await verify(AgentCard.toJSON(resolved) as object);
    await expect(verify({ ...card, name: "Another desk" })).rejects.toThrow("No valid signatures");

    const response = await worker.fetch("/a2a/jwks.json");
    expect(response.headers.get("cache-control")).toBe("public, max-age=3600");
    const { keys } = (await response.json()) as { keys: JWK[] };
    const { d: secret, ...publicKey } = key;
    expect(keys).toEqual([{ ...publicKey, alg }]);
    expect(JSON.stringify(keys)).not.toContain(secret);

    // The same over the fields of 1.0, as they came.
    const { signatures, ...signed } = withoutLegacy(card);
    expect(canonicalize(signed)).toBe(canonicalizeAgentCard(card as unknown as AgentCard));
    const payload = Buffer.from(canonicalize(signed) ?? "").toString("base64url");
    await flattenedVerify({ payload, ...signatures[0] }, createLocalJWKSet({ keys }));

    await verify(await get(worker, "/.well-known/agent-card.json"));
  });
});

test("a key without an id has its thumbprint, and a card with no optional fields is whole", async () => {
  const key = await newKey("ES256");
  await using worker = await TestWorker.start({ A2A_CARD_KEY: JSON.stringify(key) });
  const config = { ...HUMAN.config, name: "h", description: "" };
  const half = "half a character: \ud83d";
  await newTeam(worker, { id: "desk", label: half, component: { ...HUMAN, config } });
  const card = await get<SignedCard>(worker, CARD);
  expect(headerOf(card).kid).toMatch(/^[\w-]{43}$/);
  expect(card.name).toBe("half a character: \ufffd");
  await verify(card);
  expect(AgentCard.toJSON(AgentCard.fromJSON(card))).toEqual(withoutLegacy(card));
});

test("a server without a key has neither signatures nor keys", async () => {
  await using worker = await TestWorker.start();
  await newTeam(worker, { id: "desk", component: SAMPLE_COMPONENT });
  expect(await get(worker, CARD)).not.toHaveProperty("signatures");
  const none = await worker.fetch("/a2a/jwks.json");
  expect(none.status).toBe(404);
  await none.body?.cancel();
});

test.each<[string, (key: JWK) => unknown]>([
  ["no JSON", () => "{"],
  ["a public key", ({ d: _secret, ...key }) => key],
  ["another curve", (key) => ({ ...key, crv: "P-384" })],
  ["a symmetric key", () => ({ kty: "oct", k: "secret" })],
])(
  "a key that is %s turns every request into a 503, and the log does not show it",
  async (_, change) => {
    const key = await newKey("ES256");
    const changed = change(key);
    const setting = typeof changed === "string" ? changed : JSON.stringify(changed);
    const lines: string[] = [];
    await using worker = await TestWorker.start(
      { A2A_CARD_KEY: setting },
      { logs: (line) => lines.push(line) },
    );
    const response = await worker.fetch("/v1/teams");
    expect(response.status).toBe(503);
    await response.body?.cancel();
    const log = (): string => lines.join("\n");
    // The runtime's log comes by another way than the response.
    await expect.poll(log).toContain("A2A_CARD_KEY must be a private JWK");
    expect(log()).not.toContain(key.d);
  },
);
