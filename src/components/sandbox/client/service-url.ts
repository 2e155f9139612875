/** True for a valid service URL: http or https, without user, query and fragment. */
export function isServiceUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return (
    /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === "")
  );
}
