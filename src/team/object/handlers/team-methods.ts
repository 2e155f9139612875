import type { ComponentSecrets } from "../../../secrets/component-secrets.ts";
import type { TeamOfMemories } from "../../../contract/gateways/memory-gateway.ts";
import type { TeamGateway, TokenOfTeam } from "../../../contract/gateways/team-gateway.ts";
import type { OpenCost } from "../../../contract/tenant/cost-claim.ts";
import type { Result } from "../../../contract/result.ts";
import type { Handlers } from "../../../sqlite/remote-methods.ts";
import type { ForkSourceStub, ForkTargetStub } from "../../fork/fork.ts";
import type { Listing } from "../../directory-link/listing.ts";
import type { CredentialSockets } from "../../stream/credential-watch.ts";
import type { TeamHolder } from "../parts/team-holder.ts";
import type { RunInputs } from "../../engine/new-run.ts";

/** The parts of a team's object that carry out commands. */
export interface TeamCommandParts {
  team: TeamHolder;
  listing: Listing;
  secrets: ComponentSecrets;
  inputs: RunInputs;
  tokens: CredentialSockets<TokenOfTeam>;
}

/** The two ways to erase a team. */
export interface DestroyStub {
  destroy(): Promise<Result<null>>;
  wipe(): Promise<Result<null>>;
}

/** The two steps of a recovery: the second one ends the object with the call. */
export interface RecoveryStub {
  prepareRecovery(time: number): Promise<Result<null>>;
  restart(): Promise<never>;
}

export interface UserStub {
  /** To whom the team belongs; null for a team of the tenant. */
  user(): Promise<Result<string | null>>;
}

export interface CostStub {
  /** The cost of the active run, for the tenant's budget in money; null if none is active. */
  openCost(): Promise<Result<OpenCost | null>>;
}

/** The methods of a team's object that are called over RPC. */
export type TeamMethods = UserStub &
  CostStub &
  RecoveryStub &
  Omit<
    TeamGateway,
    "destroy" | "recover" | "fork" | "stream" | "startStream" | "continueRun" | "tokenEnds"
  > &
  DestroyStub &
  TeamOfMemories &
  ForkSourceStub &
  ForkTargetStub;

export type TeamHandlers = Handlers<TeamMethods, TeamCommandParts>;
