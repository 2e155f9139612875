import { expect, test } from "vitest";
import { createApiKey, KeySigner, parseApiKey } from "#api/auth/api-key.ts";
import { bytesToBase62, crc32, toBase62 } from "#api/auth/bytes.ts";

const bytes = (letter: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(32).fill(letter.charCodeAt(0));
const signer = new KeySigner(bytes("k"));

test("a key names its tenant and its id, and ends with its checksum", async () => {
  const { key, id, tenant } = await createApiKey("acme-1");
  expect(key).toMatch(/^trp_acme-1_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
  expect(parseApiKey(key)).toEqual({ tenant, id });
  expect(key.slice(-6)).toBe(toBase62(crc32(key.slice(0, -6))));
});

test("the checksum of a key is the CRC-32 of zlib", () => {
  expect(crc32("123456789")).toBe(0xcbf43926);
  expect(toBase62(0)).toBe("000000");
  expect(toBase62(0xffffffff)).toBe("4gfFC3");
});

test("two keys are never the same", async () => {
  const keys = await Promise.all(Array.from({ length: 1000 }, () => createApiKey("t", signer)));
  expect(new Set(keys.map(({ key }) => key)).size).toBe(1000);
});

test("a signed key is genuine for its signer and unknown to another one", async () => {
  const { key, id } = await createApiKey("acme", signer);
  expect(key).toMatch(/^trp_acme_[0-9A-Za-z]{12}_[0-9A-Za-z]{64}$/);
  const parsed = parseApiKey(key)!;
  expect(parsed).toMatchObject({ tenant: "acme", id });
  expect(await signer.originOf(parsed)).toBe("genuine");
  expect(await new KeySigner(bytes("k")).originOf(parsed)).toBe("genuine");
  expect(await new KeySigner(bytes("o")).originOf(parsed)).toBe("unknown");
  const unsigned = await createApiKey("acme");
  expect(await signer.originOf(parseApiKey(unsigned.key)!)).toBe("unknown");
});

test.each([
  ["another tenant", (key: string) => key.replace("acme", "acne")],
  ["another id", (key: string) => swap(key, 12)],
  ["another secret", (key: string) => swap(key, 30)],
  ["another MAC", (key: string) => swap(key, -10)],
])("a signed key with %s is refused as forged", async (_, change) => {
  const { key } = await createApiKey("acme", signer);
  const text = change(key).slice(0, -6);
  const parsed = parseApiKey(text + toBase62(crc32(text)))!;
  expect(await signer.originOf(parsed)).toBe("forged");
});

test("bytes are encoded as one number", () => {
  expect(bytesToBase62(new Uint8Array([1, 0]))).toBe("048");
  expect(bytesToBase62(new Uint8Array(16).fill(255))).toBe("7n42DGM5Tflk9n8mt7Fhc7");
});

test.each([
  ["a letter changed", (key: string) => key.replace(/.(.{6})$/, (_, rest) => `!${rest}`)],
  ["another letter in the secret", (key: string) => swap(key, -20)],
  ["another tenant", (key: string) => key.replace("acme", "acne")],
  ["another id", (key: string) => swap(key, 12)],
  ["the checksum missing", (key: string) => key.slice(0, -6)],
  ["a path in the id", (key: string) => key.replace(/_(\w{12})_/, "_../../../../_")],
  ["a line after it", (key: string) => `${key}\n`],
  ["nothing", () => ""],
])("a key with %s is invalid", async (_, change) => {
  for (const made of [await createApiKey("acme"), await createApiKey("acme", signer)]) {
    expect(parseApiKey(change(made.key))).toBeUndefined();
  }
});

function swap(key: string, at: number): string {
  const index = at < 0 ? key.length + at : at;
  return key.slice(0, index) + (key[index] === "a" ? "b" : "a") + key.slice(index + 1);
}
