/** What a test wants to see; as JSON in the page's hash. */
export interface AppOptions {
  baseURL: string;
  token?: string;
  teams: string[];
  strict?: boolean;
  pageSize?: number;
  inbox?: boolean;
}
