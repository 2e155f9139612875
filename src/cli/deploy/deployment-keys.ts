import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { KEY_BYTES } from "../../secrets/secrets-key.ts";
import { CliError } from "../terminal/errors.ts";

/** Other fields are those of later versions, and are kept. */
const keysSchema = z.looseObject({
  secrets_key: z.string().optional(),
  operator_key: z.string().optional(),
  /** The id of the key that was made with the first deployment. */
  first_key: z.string().optional(),
  /** The address of the last deployment. */
  url: z.string().optional(),
});

type Keys = z.output<typeof keysSchema>;

/** The keys of one deployment that were generated here, in a file that only the user reads. */
export class DeploymentKeys {
  readonly file: string;
  #keys: Keys;

  /** @param env the environment of the configuration @throws CliError for a file that was damaged */
  constructor(root: string, env: string | undefined) {
    this.file = join(root, ".troupe", "deploy", `${env ?? "production"}.json`);
    this.#keys = read(this.file);
  }

  get operatorKey(): string | undefined {
    return this.#keys.operator_key;
  }

  get hasFirstKey(): boolean {
    return this.#keys.first_key !== undefined;
  }

  set firstKey(id: string) {
    this.#write({ first_key: id });
  }

  /** The address of the last deployment, if it is known. */
  get url(): string | undefined {
    return this.#keys.url;
  }

  set url(url: string) {
    if (url !== this.#keys.url) this.#write({ url });
  }

  /** The secrets that a Worker with these secrets lacks. They are stored here before anything is deployed. */
  missing(deployed: readonly string[], { write }: { write: boolean }): Record<string, string> {
    const missing: Record<string, string> = {};
    const made: Keys = {};
    if (!deployed.includes("SECRETS_KEY")) {
      made.secrets_key = this.#keys.secrets_key ?? randomBytes(KEY_BYTES).toString("base64");
      missing["SECRETS_KEY"] = made.secrets_key;
    }
    if (!deployed.includes("OPERATOR_KEY_HASH")) {
      made.operator_key = this.#keys.operator_key ?? randomBytes(KEY_BYTES).toString("base64url");
      missing["OPERATOR_KEY_HASH"] = createHash("sha256").update(made.operator_key).digest("hex");
    }
    if (write && Object.keys(made).length > 0) this.#write(made);
    return missing;
  }

  #write(made: Keys): void {
    this.#keys = { ...this.#keys, ...made };
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
    writeFileSync(this.file, `${JSON.stringify(this.#keys, null, 2)}\n`, { mode: 0o600 });
  }
}

function read(file: string): Keys {
  try {
    return keysSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new CliError(`${file} is damaged: it has the keys of this deployment as JSON.`, {
      code: "invalid_keys",
    });
  }
}
