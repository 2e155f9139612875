import { expect, test } from "vitest";
import { createApiKey, parseApiKey } from "#auth/api-key.ts";
import { crc32, toBase62 } from "#auth/bytes.ts";

test("a key names its tenant and its id, and ends with its checksum", () => {
  const { key, id, tenant } = createApiKey("acme-1");
  expect(key).toMatch(/^trp_acme-1_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
  expect(parseApiKey(key)).toEqual({ tenant, id });
  expect(key.slice(-6)).toBe(toBase62(crc32(key.slice(0, -6))));
});

test("the checksum is CRC-32 as zlib has it", () => {
  expect(crc32("123456789")).toBe(0xcbf43926);
  expect(toBase62(0)).toBe("000000");
  expect(toBase62(0xffffffff)).toBe("4gfFC3");
});

test("no two keys are the same", () => {
  const keys = new Set(Array.from({ length: 1000 }, () => createApiKey("t").key));
  expect(keys.size).toBe(1000);
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
])("a key with %s is none", (_, change) => {
  expect(parseApiKey(change(createApiKey("acme").key))).toBeUndefined();
});

function swap(key: string, at: number): string {
  const index = at < 0 ? key.length + at : at;
  return key.slice(0, index) + (key[index] === "a" ? "b" : "a") + key.slice(index + 1);
}
