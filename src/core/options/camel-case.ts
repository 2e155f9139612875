/** The option of a field: `baseURL` of `base_url`. */
export type CamelCase<Name> = Name extends `${infer Words}_url`
  ? `${CamelCase<Words>}URL`
  : Name extends `${infer Word}_${infer Rest}`
    ? `${Word}${Capitalize<CamelCase<Rest>>}`
    : Name;

/** The option of a field: `baseURL` of `base_url`. */
export function camelCase(field: string): string {
  return field
    .replace(/_url$/, "URL")
    .replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
