/** The part of the binding `worker_loaders` that is used here. */
export interface WorkerLoaderBinding {
  /** The Worker of a name, which is made once per isolate of this Worker. */
  get: (name: string, code: () => WorkerCode) => LoadedWorker;
  /** A Worker of its own. */
  load: (code: WorkerCode) => LoadedWorker;
}

/** A Worker that can reach nothing. */
export interface WorkerCode {
  compatibilityDate: string;
  mainModule: string;
  modules: Record<string, string>;
  env: Record<string, never>;
  globalOutbound: null;
  limits: { cpuMs: number };
}

export interface LoadedWorker {
  getEntrypoint: () => {
    fetch: (url: string, init: RequestInit) => Promise<Response>;
  };
}

/** The date that decides how code behaves. A change of it may change what tools return. */
const COMPATIBILITY_DATE = "2026-09-18";

/** The most that a request may compute, whatever its time limit is. */
const MOST_CPU_MS = 30_000;

/**
 * A Worker without bindings and without network. Its first module is its entry.
 *
 * @param seconds the time limit of a request, which also limits what it may compute
 */
export function isolatedWorker(modules: Record<string, string>, seconds: number): WorkerCode {
  const [mainModule = ""] = Object.keys(modules);
  return {
    compatibilityDate: COMPATIBILITY_DATE,
    mainModule,
    modules,
    env: {},
    globalOutbound: null,
    limits: { cpuMs: Math.min(seconds * 1000, MOST_CPU_MS) },
  };
}
