import { writeSync } from "node:fs";
import type * as Fs from "node:fs/promises";

type Operation = (...args: never[]) => unknown;

const NEVER = new Promise<never>(() => {});

/** The one that operations go to at the moment. */
let current: DyingDisk | undefined;

/**
 * The disk as it is for a process that is killed: after some operations that change it nothing happens and nothing answers any
 * more; the operation at which that is, if it is a write, is done by half.
 */
export class DyingDisk implements Disposable {
  readonly #last: number;
  readonly #dead = Promise.withResolvers<void>();
  #operations = 0;

  constructor(last: number) {
    this.#last = last;
    current = this;
  }

  /** Resolves when the process would be dead. */
  get dead(): Promise<void> {
    return this.#dead.promise;
  }

  [Symbol.dispose](): void {
    current = undefined;
  }

  do<T>(operation: () => T, half?: () => void): T | Promise<never> {
    this.#operations++;
    if (this.#operations <= this.#last) return operation();
    if (this.#operations === this.#last + 1) half?.();
    this.#dead.resolve();
    return NEVER;
  }
}

/** For `vi.mock`: the module with operations that go to the dying disk, if there is one. */
export function onDyingDisk(fs: typeof Fs): typeof Fs {
  const watched = (handle: Fs.FileHandle): Fs.FileHandle => {
    const { sync, writeFile } = handle;
    const half = (content: Buffer | string): void => {
      const bytes = Buffer.from(content);
      writeSync(handle.fd, bytes, 0, Math.floor(bytes.length / 2));
    };
    return Object.assign(handle, {
      sync: counted(sync.bind(handle)),
      writeFile: counted(writeFile.bind(handle), half as typeof writeFile),
    });
  };
  return {
    ...fs,
    mkdir: counted(fs.mkdir),
    rename: counted(fs.rename),
    rm: counted(fs.rm),
    open: counted(async (...args: Parameters<typeof fs.open>) => watched(await fs.open(...args))),
  };
}

function counted<T extends Operation>(original: T, half?: Operation): T {
  const replaced: Operation = (...args) => {
    if (current === undefined) return original(...args);
    return current.do(
      () => original(...args),
      () => half?.(...args),
    );
  };
  return replaced as T;
}
