// A container of its own for each session of the sandbox. Troupe's Worker reaches it through a service binding:
//   services = [{ binding = "SANDBOX", service = "troupe-sandbox" }]
import { Container, getContainer } from "@cloudflare/containers";

interface Env {
  CONTAINER: DurableObjectNamespace<SandboxContainer>;
  /** The key of the sandbox, of at least 16 characters, and SANDBOX_KEY of Troupe's Worker. */
  SANDBOX_KEY: string;
}

export class SandboxContainer extends Container<Env> {
  override defaultPort = 8788;
  override pingEndpoint = "localhost/healthz";
  override sleepAfter = "10m";
  override enableInternet = false;
  override envVars: Record<string, string> = { SANDBOX_KEY: this.env.SANDBOX_KEY };
}

export default {
  fetch(request, env): Promise<Response> {
    const [, , , session = "any"] = new URL(request.url).pathname.split("/");
    return getContainer(env.CONTAINER, session).fetch(request);
  },
} satisfies ExportedHandler<Env>;
