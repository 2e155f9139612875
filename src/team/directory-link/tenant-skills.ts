import type { TenantOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import type { Result } from "../../contract/result.ts";
import { TroupeError } from "../../core/errors.ts";
import type { SkillFile } from "../../core/skills/skill-files.ts";
import type { OpenSkill, SkillSource, SkillSummary } from "../../core/skills/skill-source.ts";

/** The skills of a team's tenant. */
export class TenantSkills implements SkillSource {
  readonly #tenant: TenantOfTeam;

  constructor(tenant: TenantOfTeam) {
    this.#tenant = tenant;
  }

  find(names: readonly string[]): Promise<(SkillSummary | null)[]> {
    return this.#tenant.findSkills(names);
  }

  async open(name: string, pin: string): Promise<OpenSkill> {
    return valueOf(await this.#tenant.openSkill(name, pin));
  }

  async read(name: string, pin: string, path: string): Promise<Uint8Array<ArrayBuffer>> {
    return valueOf(await this.#tenant.skillFile(name, pin, path));
  }

  async files(name: string, pin: string): Promise<SkillFile[]> {
    return valueOf(await this.#tenant.skillFiles(name, pin));
  }
}

/** @throws TroupeError with the tenant's refusal */
function valueOf<T>(answer: Result<T>): T {
  if (answer.ok) return answer.value;
  const { status, code, detail } = answer.problem;
  throw Object.assign(new TroupeError(code, detail), { retryable: status >= 500 });
}
