import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { backUpToBucket, downloadBackup } from "#cli/backup/bucket-backup.ts";
import { Bucket } from "#cli/backup/bucket.ts";
import { restoreBackup } from "#cli/backup/restore-backup.ts";
import { FakeS3 } from "./support/fake-s3.ts";
import { FakeTenant, keyOfVersion, keyPlace, withKey } from "./support/fake-tenant.ts";

const ADDRESS = "s3://backups/monday";
const UNAVAILABLE = { status: 503, code: "SlowDown" };

let folder: string;
let source: FakeTenant;
let store: FakeS3;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "troupe-bucket-"));
  store = await FakeS3.start();
  source = new FakeTenant();
  for (const team of ["desk", "night", "press"]) {
    source.teams.set(team, { versions: [withKey(`key of ${team}`)], parts: {} });
  }
});

afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function bucket(
  settings: Record<string, string | undefined> = {},
  address = ADDRESS,
): Promise<Bucket> {
  return Bucket.open(address, { ...store.env, ...settings });
}

async function backUp(settings: Record<string, string> = {}): Promise<unknown> {
  return backUpToBucket(source.server(), await bucket(settings), folder, () => {});
}

async function download(): Promise<string> {
  return downloadBackup(await bucket(), folder);
}

/** Breaks the connection at the requests after the first ones that the pattern describes. */
function cutAfter(count: number, pattern: RegExp): void {
  let left = count;
  store.before = (request) => {
    if (!pattern.test(request)) return undefined;
    left--;
    return left < 0 ? { status: 400, code: "Interrupted" } : undefined;
  };
}

describe("a backup in a bucket", () => {
  test("is restored from there, with interruptions on both ways", async () => {
    cutAfter(2, /^PUT/);
    await expect(backUp()).rejects.toThrow("400 Interrupted");
    const sent = [...store.objects.keys()];
    expect(sent).toHaveLength(2);
    await expect(download()).rejects.toThrow(`The backup in ${ADDRESS} is not complete.`);

    store.before = () => undefined;
    store.requests.length = 0;
    await backUp();
    expect(store.puts.filter((key) => sent.includes(key))).toEqual([]);
    expect(store.puts.at(-1)).toBe("monday/backup.json");
    expect(store.requests.filter((request) => request === "LIST").length).toBe(1);
    expect(readdirSync(join(folder, "backups"))).toEqual([]);

    cutAfter(1, /^GET monday\/team/);
    await expect(download()).rejects.toThrow("400 Interrupted");
    store.before = () => undefined;
    const directory = await download();
    const secrets = join(directory, "secrets.json");
    const places = ["desk", "night", "press"].map((team) => [keyPlace(team, 1), team]);
    writeFileSync(secrets, JSON.stringify(Object.fromEntries(places)));
    store.requests.length = 0;
    // What is there is not copied again, and the secrets stay filled in.
    expect(await download()).toBe(directory);
    expect(store.requests.filter((request) => request.includes("/team/"))).toEqual([]);

    const target = new FakeTenant();
    const options = { overwrite: false, withoutSecrets: false, onItem: (): void => {} };
    const report = await restoreBackup(target.server(), directory, options);
    expect(report.refused).toEqual([]);
    for (const team of ["desk", "night", "press"]) {
      expect(keyOfVersion(target.teams.get(team)?.versions[0])).toBe(team);
    }
  });

  test("is not sent again where all pages of the bucket have its files", async () => {
    store.before = (request) =>
      request === "PUT monday/backup.json" ? { status: 400, code: "Interrupted" } : undefined;
    await expect(backUp()).rejects.toThrow("400 Interrupted");
    store.before = () => undefined;
    store.requests.length = 0;
    source.requests.length = 0;
    await backUp();
    expect(store.requests.filter((request) => request === "LIST").length).toBeGreaterThan(2);
    expect(store.puts).toEqual(["monday/secrets.json", "monday/backup.json"]);
    expect(source.requests).toEqual([]);
  });

  test("is sent to a store that answers some requests later", async () => {
    const failed = new Set<string>();
    store.before = (request) => {
      if (failed.has(request)) return undefined;
      failed.add(request);
      return UNAVAILABLE;
    };
    await backUp();
    await download();
    expect(store.objects.has("monday/backup.json")).toBe(true);
  });

  test("is not replaced by another one", async () => {
    await backUp();
    await expect(backUp()).rejects.toThrow(`${ADDRESS} has a complete backup.`);
    store.objects.delete("monday/backup.json");
    await expect(backUp()).rejects.toThrow("made from another directory or machine");
  });

  test("has no secrets that were filled in before it was sent", async () => {
    cutAfter(0, /^PUT/);
    await expect(backUp()).rejects.toThrow("400 Interrupted");
    const [name = ""] = readdirSync(join(folder, "backups"));
    const secrets = join(folder, "backups", name, "secrets.json");
    const filled = readFileSync(secrets, "utf8").replaceAll("null", '"filled-in"');
    writeFileSync(secrets, filled);
    store.before = () => undefined;
    await backUp();
    expect(store.objects.get("monday/secrets.json")?.toString()).not.toContain("filled-in");
  });
});

describe("a restore from a bucket", () => {
  test("refuses an address without a backup", async () => {
    await expect(download()).rejects.toThrow(`${ADDRESS} has no backup`);
  });

  test("names a file that is damaged or missing", async () => {
    await backUp();
    const key = [...store.objects.keys()].find((one) => one.startsWith("monday/team/desk/"));
    store.objects.set(key!, Buffer.from("other"));
    await expect(download()).rejects.toThrow(`s3://backups/${key} is damaged`);
    store.objects.delete(key!);
    await expect(download()).rejects.toThrow(`s3://backups/${key} is damaged`);
  });

  test("does not mix the copies of two backups", async () => {
    await backUp();
    await download();
    store.objects.set("monday/started.json", Buffer.from("{}"));
    await expect(download()).rejects.toThrow("has the copy of an earlier backup");
  });
});

describe("a store", () => {
  test.each([
    [{ AWS_ACCESS_KEY_ID: "another" }, "403 InvalidAccessKeyId. Check AWS_ACCESS_KEY_ID"],
    [{ AWS_SECRET_ACCESS_KEY: "another" }, "403 SignatureDoesNotMatch. Check AWS_ACCESS_KEY_ID"],
  ])("refuses other keys, which no message has: %j", async (settings, message) => {
    const error = await backUp(settings).catch(String);
    expect(error).toContain(message);
    for (const key of Object.values({ ...store.env, ...settings }).slice(1)) {
      expect(error).not.toContain(key);
    }
    expect(existsSync(join(folder, "backups"))).toBe(false);
  });

  test("refuses a bucket that it lacks", async () => {
    const other = await bucket({}, "s3://nothing/monday");
    await expect(downloadBackup(other, folder)).rejects.toThrow("404 NoSuchBucket. Create");
  });

  test("leads to no other host", async () => {
    store.before = () => ({ status: 307, code: "TemporaryRedirect" });
    await expect(backUp()).rejects.toThrow("Redirects are not followed");
    expect(store.requests).toHaveLength(1);
  });

  test("gets requests for the region of the environment", async () => {
    await backUp({ AWS_REGION: "eu-central-1" });
    expect(store.objects.has("monday/backup.json")).toBe(true);
  });

  test.each(["s3://backups", "s3://Backups/monday", "s3://backups/../x", "s3://backups/a b"])(
    "has no address %s",
    async (address) => {
      await expect(bucket({}, address)).rejects.toThrow("is not the address of a backup");
    },
  );

  test("needs its settings in the environment", async () => {
    await expect(bucket({ AWS_SECRET_ACCESS_KEY: "" })).rejects.toThrow(
      `${ADDRESS} needs AWS_SECRET_ACCESS_KEY in the environment.`,
    );
    await expect(bucket({ AWS_ENDPOINT_URL_S3: "r2" })).rejects.toThrow("not the URL of a store");
  });
});
