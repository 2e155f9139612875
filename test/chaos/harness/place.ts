/** Where cases find the worker and leave what they store. */
export interface Place {
  scratch: string;
  /** Written by `configOfWorker`. */
  config: string;
  /** What runs code. */
  sandbox: { url: string; key: string };
}
