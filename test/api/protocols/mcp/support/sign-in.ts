import { freePort } from "../../../../support/ports.ts";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { bearer, deployed } from "../../support/access.ts";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../../support/authorization-server.ts";
import { newTeam } from "../../support/teams.ts";

export const AGENT_SCOPES = ["teams:read", "runs:read", "runs:write", "requests:write"];

/** A Worker with the team `desk`, whose users sign in at an OpenID provider. */
export interface SignIn extends AsyncDisposable {
  issuer: AuthorizationServer;
  worker: TestWorker;
  origin: string;
}

export async function startSignIn(): Promise<SignIn> {
  const issuer = await startAuthorizationServer(AGENT_SCOPES);
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const settings = {
    JWT_ISSUER: issuer.issuer,
    JWT_AUDIENCE: origin,
    JWT_JWKS_URL: `${issuer.issuer}/jwks`,
  };
  const worker = await TestWorker.start(await deployed(settings, ["ada"]), { port });
  await newTeam(worker, { id: "desk", label: "Desk", component: SAMPLE_COMPONENT }, bearer("ada"));
  return {
    issuer,
    worker,
    origin,
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    },
  };
}
