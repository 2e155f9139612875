/** What a request asks the object to do. */
export type RecallRequest =
  | { do: "fill"; count: number; dimensions: number }
  | { do: "search"; queries: number; by: "words" | "vectors" | "both"; dimensions: number }
  | { do: "exact"; queries: number; dimensions: number }
  | { do: "sections"; sections: readonly { id: string; text: string; values: number[] }[] }
  | { do: "ask"; questions: readonly { text: string; values: number[] | null }[]; k: number }
  | { do: "unload" };
