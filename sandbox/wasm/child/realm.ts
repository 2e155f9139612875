// Removes most globals of JavaScript before code runs. Code cannot reach them (see imports.ts); this is a second line of defence,
// and Node's permission model is the third.

const KEPT = new Set(
  `
  globalThis Infinity NaN undefined Object Function Array Number parseFloat parseInt Boolean String Symbol Date Promise RegExp
  Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError JSON Math Intl
  ArrayBuffer SharedArrayBuffer Atomics Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array
  Float32Array Float64Array Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set Iterator WeakMap WeakSet
  WeakRef Proxy Reflect FinalizationRegistry DisposableStack AsyncDisposableStack decodeURI decodeURIComponent encodeURI
  encodeURIComponent escape unescape isFinite isNaN WebAssembly TextEncoder TextDecoder performance setTimeout
  clearTimeout setInterval clearInterval setImmediate clearImmediate queueMicrotask AbortController AbortSignal Event EventTarget
  DOMException URL URLSearchParams atob btoa Buffer structuredClone crypto
  `.split(/\s+/),
);

/** Properties of `process` that Node itself needs for timers and promises. */
const KEPT_OF_PROCESS = new Set(
  "nextTick emit emitWarning listenerCount on off once _events _eventsCount _maxListeners _exiting domain exitCode env versions version platform argv execArgv cwd hrtime memoryUsage stdout stderr".split(
    " ",
  ),
);

/** Deletes everything that reaches outside the process. Cannot be undone. */
export function stripRealm(): void {
  const { process } = globalThis;
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (!KEPT.has(name)) Reflect.deleteProperty(globalThis, name);
  Reflect.deleteProperty(Object.prototype, "__proto__");
  for (const name of Reflect.ownKeys(process))
    if (typeof name === "string" && !KEPT_OF_PROCESS.has(name))
      Reflect.deleteProperty(process, name);
}
