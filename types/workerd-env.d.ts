/** Types `env` and `exports` of "cloudflare:workers" in tests that run inside workerd. */
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("../test/team/support/worker.ts");
  }
  interface Env {
    ENGINE: DurableObjectNamespace<import("../test/team/support/worker.ts").ScriptedTeam>;
    TENANT: DurableObjectNamespace<import("../test/team/support/worker.ts").Tenant>;
    MEMORY: DurableObjectNamespace<import("../test/team/support/worker.ts").Memory>;
    LOADER: import("#components/worker-loader/worker-loader.ts").WorkerLoaderBinding;
  }
}
