/**
 * True if a host is on the public internet. Hosts come from a parsed URL: lower case, IPv4 as four decimal numbers
 * however it was written, IPv6 in brackets and in its short form.
 */
export function isPublicHost(host: string): boolean {
  if (host === "") return false;
  if (host.startsWith("[")) return isPublicIPv6(host.slice(1, -1));
  const address = parseIPv4(host);
  if (address !== undefined) return isPublicIPv4(address);
  return host.includes(".") && !LOCAL_NAMES.some((name) => `.${host}`.endsWith(name));
}

export function isLoopbackHost(host: string): boolean {
  return (
    host === "localhost" ||
    host.endsWith(".localhost") ||
    host === "[::1]" ||
    (parseIPv4(host) ?? 0) >>> 24 === 127
  );
}

/** True if a host is an address, which nothing has to resolve. */
export function isAddress(host: string): boolean {
  return host.startsWith("[") || parseIPv4(host) !== undefined;
}

/**
 * True for a host that no setting can allow: a link-local address, where cloud providers serve the credentials of a
 * machine, or another address or name of such a metadata service.
 */
export function isNeverAsked(host: string): boolean {
  if (!host.startsWith("[")) {
    const address = parseIPv4(host);
    return address === undefined ? METADATA_NAMES.has(host) : isNeverAskedIPv4(address);
  }
  const groups = parseIPv6(host.slice(1, -1));
  if (groups === undefined) return true;
  const [first = 0, second = 0] = groups;
  if ((first & 0xffc0) === 0xfe80) return true;
  if (first === 0xfd00 && second === 0xec2) return true; // Amazon
  if (first === 0xfd20 && second === 0xce) return true; // Google
  return embeddedIPv4(groups).some(isNeverAskedIPv4);
}

function isNeverAskedIPv4(address: number): boolean {
  return NEVER_ASKED_IPV4.some((network) => contains(network, address));
}

/** Link-local; Azure; Alibaba; Oracle. */
const NEVER_ASKED_IPV4: readonly Network[] = [
  ["169.254.0.0", 16],
  ["168.63.129.16", 32],
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
];

const METADATA_NAMES: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "metadata.azure.internal",
  "metadata.azure.com",
  "metadata.tencentyun.com",
  "metadata.oraclecloud.com",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** The IPv4 addresses in one of IPv6 that leads to them: mapped, compatible, translated (NAT64), by 6to4. */
function embeddedIPv4(groups: readonly number[]): number[] {
  const [first = 0, second = 0] = groups;
  if (first === 0x2002) return [joined(groups, 1)];
  const translated = first === 0x64 && second === 0xff9b;
  const mapped = groups.slice(0, 5).every((group) => group === 0);
  return translated || mapped ? [joined(groups, 6)] : [];
}

/** Names that never mean a public host; a name without a dot is one of the local network. */
const LOCAL_NAMES = [
  ".localhost",
  ".local",
  ".localdomain",
  ".internal",
  ".intranet",
  ".lan",
  ".home.arpa",
  ".corp",
  ".private",
];

/** Address and length of the prefix. */
type Network = readonly [string, number];

/** By the registry of special-purpose addresses (RFC 6890 and its updates). */
const SPECIAL_IPV4: readonly Network[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

function isPublicIPv4(address: number): boolean {
  return !SPECIAL_IPV4.some((network) => contains(network, address));
}

function contains([network, length]: Network, address: number): boolean {
  const shift = 32 - length;
  return address >>> shift === (parseIPv4(network) ?? 0) >>> shift;
}

function parseIPv4(host: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(host);
  if (match === null) return undefined;
  return match.slice(1).reduce((address, part) => ((address << 8) | Number(part)) >>> 0, 0);
}

/** Only 2000::/3 is assigned; parts of it embed other addresses or are reserved for documentation. */
function isPublicIPv6(text: string): boolean {
  const groups = parseIPv6(text);
  if (groups === undefined) return false;
  const [first = 0, second = 0, third = 0] = groups;
  if (first === 0x64 && second === 0xff9b) {
    return groups.slice(2, 6).every((group) => group === 0) && isPublicIPv4(joined(groups, 6));
  }
  if (first >>> 13 !== 1) return false;
  if (first === 0x2002) return isPublicIPv4(((second << 16) | third) >>> 0);
  // 2001::/23 holds Teredo and other protocols, 2001:db8::/32 and 3fff::/20 are for documentation.
  if (first === 0x2001 && (second < 0x200 || second === 0xdb8)) return false;
  return !(first === 0x3fff && second < 0x1000);
}

function joined(groups: readonly number[], index: number): number {
  return (((groups[index] ?? 0) << 16) | (groups[index + 1] ?? 0)) >>> 0;
}

function parseIPv6(text: string): number[] | undefined {
  const [head = "", tail, ...more] = text.split("::");
  if (more.length > 0) return undefined;
  const before = parseGroups(head);
  const after = parseGroups(tail ?? "");
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array.from({ length: missing }, () => 0), ...after];
  return groups.every((group) => group >= 0 && group <= 0xffff) ? groups : undefined;
}

function parseGroups(text: string): number[] {
  if (text === "") return [];
  return text
    .split(":")
    .map((group) => (/^[0-9a-f]{1,4}$/i.test(group) ? parseInt(group, 16) : -1));
}
