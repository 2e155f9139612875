/** Types `env` and `exports` of "cloudflare:workers" in tests that run inside workerd. */
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("../test/durable/support/worker.ts");
  }
  interface Env {
    ENGINE: DurableObjectNamespace<import("../test/durable/support/worker.ts").ScriptedTeam>;
    TENANT: DurableObjectNamespace<import("../test/durable/support/worker.ts").Tenant>;
  }
}
