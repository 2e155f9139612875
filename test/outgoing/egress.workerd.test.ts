import { describe, expect, test } from "vitest";
import { checkEgress, EgressError, egressRules } from "#outgoing/egress.ts";
import { guardedFetch } from "#outgoing/outgoing-fetch.ts";

const anywhere = { allowed: null, open: false };
const local = { allowed: null, open: true };

function verdict(url: string, rules: Parameters<typeof checkEgress>[1]): "allowed" | "denied" {
  try {
    checkEgress(url, rules);
    return "allowed";
  } catch (error) {
    expect(error).toBeInstanceOf(EgressError);
    expect(error).toMatchObject({ code: "egress_denied", retryable: false });
    return "denied";
  }
}

const LOOPBACK = [
  "localhost",
  "LOCALHOST",
  "localhost.",
  "a.localhost",
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.255.255.254",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "017700000001",
  "127.0.0.1.",
  "%31%32%37.0.0.1",
  "１２７.０.０.１",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000::0001]",
];

const PRIVATE = [
  "0.0.0.0",
  "0",
  "10.0.0.1",
  "10.1",
  "0xa000001",
  "100.64.0.1",
  "100.127.255.255",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.2.1",
  "192.168.1.1",
  "192.168.257",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:10.0.0.1]",
  "[::127.0.0.1]",
  "[64:ff9b::10.0.0.1]",
  "[64:ff9b:1::1]",
  "[100::1]",
  "[2001::1]",
  "[2001:db8::1]",
  "[2002:7f00:1::]",
  "[2002:a00:1::1]",
  "[3fff::1]",
  "[5f00::1]",
  "[fc00::1]",
  "[fec0::1]",
  "[ff02::1]",
  "printer.local",
  "router.lan",
  "nas.home.arpa",
  "intranet",
  "db.corp",
];

/** Link-local addresses and metadata services of cloud providers, however they are written. */
const NEVER = [
  "169.254.0.1",
  "169.254.169.254",
  "169.254.169.254.",
  "169.254.170.2",
  "2852039166",
  "0xA9FEA9FE",
  "0xa9.0xfe.0xa9.0xfe",
  "0251.0376.0251.0376",
  "169.16689662",
  "１６９.２５４.１６９.２５４",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "[fd00:ec2::254]",
  "[fd00:0ec2:0:0:0:0:0:254]",
  "[fd20:ce::254]",
  "[fe80::1]",
  "[febf::1]",
  "[::ffff:169.254.169.254]",
  "[::ffff:a9fe:a9fe]",
  "[::169.254.169.254]",
  "[64:ff9b::169.254.169.254]",
  "[2002:a9fe:a9fe::]",
  "metadata.google.internal",
  "METADATA.google.internal.",
  "metadata.goog",
  "instance-data",
];

const PUBLIC = [
  "api.openai.com",
  "API.OPENAI.COM",
  "api.openai.com.",
  "1.1.1.1",
  "8.8.8.8",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.0.1",
  "172.32.0.1",
  "169.253.0.1",
  "192.167.0.1",
  "223.255.255.255",
  "[2606:4700:4700::1111]",
  "[64:ff9b::8.8.8.8]",
  "[2002:808:808::1]",
  "xn--bcher-kva.example",
  "localhost.example.com",
];

describe("a request of a deployed Worker", () => {
  test.for(LOOPBACK)("is denied to this machine: %s", (host) => {
    expect(verdict(`https://${host}/v1`, anywhere)).toBe("denied");
    expect(verdict(`https://${host}:8443/v1`, anywhere)).toBe("denied");
  });

  test.for(PRIVATE)("is denied to a private address: %s", (host) => {
    expect(verdict(`https://${host}/v1`, anywhere)).toBe("denied");
    // A name without a port does not help.
    const { hostname } = new URL(`https://${host}/`);
    const named = egressRules({ ALLOWED_EGRESS: hostname });
    expect(verdict(`https://${host}/v1`, named)).toBe("denied");
    expect(verdict(`https://${host}:443/v1`, named)).toBe("denied");
  });

  test.for([...LOOPBACK, ...PRIVATE])(
    "is allowed if ALLOWED_EGRESS names it with its port: %s",
    (host) => {
      const { hostname } = new URL(`https://${host}/`);
      const setting = (entry: string) => egressRules({ ALLOWED_EGRESS: entry });
      const named = setting(`${hostname}:8443`);
      expect(verdict(`https://${host}:8443/v1`, named)).toBe("allowed");
      // However the setting writes it.
      const written = setting(`other.example,${host}:8443`);
      expect(verdict(`https://${host}:8443/v1`, written)).toBe("allowed");
      for (const other of ["https://HOST/", "https://HOST:8444/", "http://HOST:8443/"]) {
        expect(verdict(other.replace("HOST", host), named)).toBe("denied");
      }
      expect(verdict(`http://${host}:8080/`, setting(`http://${hostname}:8080`))).toBe("allowed");
      expect(verdict(`http://me@${host}:8080/`, setting(`http://${hostname}:8080`))).toBe("denied");
      expect(verdict(`https://${host}/`, setting(`${hostname}:443`))).toBe("allowed");
    },
  );

  test("is denied to other addresses than the named one", () => {
    const named = egressRules({ ALLOWED_EGRESS: "http://127.0.0.1:8080" });
    for (const other of [
      "http://127.0.0.1:8081/",
      "http://127.0.0.1/",
      "http://127.0.0.2:8080/",
      "http://localhost:8080/",
      "http://[::1]:8080/",
      "http://[::ffff:127.0.0.1]:8080/",
      "http://0.0.0.0:8080/",
      "http://10.0.0.1:8080/",
      "http://127.0.0.1:8080@10.0.0.1/",
      "http://127.0.0.1.evil.example:8080/",
    ]) {
      expect(verdict(other, named)).toBe("denied");
    }
  });

  test("is denied to private addresses if only a wildcard, a secret's host or a webhook's host names them", () => {
    for (const settings of [
      { ALLOWED_EGRESS: "*.corp:8443" },
      { OPENAI_BASE_URL: "https://models.corp:8443/v1" },
      { SECRET_HOSTS: '{"KEY": ["models.corp:8443"]}' },
    ]) {
      expect(verdict("https://models.corp:8443/v1", egressRules(settings))).toBe("denied");
    }
  });

  test("is denied with an error that explains how to name the address", () => {
    expect(() => checkEgress("http://10.0.0.5:11434/v1", anywhere)).toThrow(
      /private or local address.*ALLOWED_EGRESS: "http:\/\/10\.0\.0\.5:11434"/,
    );
  });

  test.for(PUBLIC)("is allowed to a public host: %s", (host) => {
    expect(verdict(`https://${host}/v1`, anywhere)).toBe("allowed");
  });

  test("is denied to addresses that are not encrypted web addresses", () => {
    for (const url of [
      "http://api.openai.com/v1",
      "ftp://api.openai.com/",
      "file:///etc/passwd",
      "data:text/plain,hello",
      "ws://api.openai.com/",
      "https://me:secret@api.openai.com/",
      "https://me@api.openai.com/",
      "/v1/chat",
      "",
    ]) {
      expect(verdict(url, anywhere)).toBe("denied");
    }
  });
});

test.for(NEVER)("a metadata address is never called, deployed or not, named or not: %s", (host) => {
  const { hostname } = new URL(`http://${host}/`);
  for (const [scheme, port] of [
    ["http", 80],
    ["https", 443],
    ["http", 8080],
  ] as const) {
    const entries = [host, hostname, `${hostname}:${port}`, `http://${hostname}:${port}`];
    for (const TROUPE_OPEN of ["0", "1"]) {
      const settings = {
        TROUPE_OPEN,
        ALLOWED_EGRESS: entries.join(","),
      };
      const url = `${scheme}://${host}:${port}/latest/meta-data`;
      expect(verdict(url, egressRules(settings))).toBe("denied");
      expect(() => checkEgress(url, egressRules(settings))).toThrow(/metadata service.*never/);
    }
  }
});

describe("a request on one's own machine", () => {
  test.for(LOOPBACK)("is allowed to this machine: %s", (host) => {
    expect(verdict(`http://${host}:11434/v1`, local)).toBe("allowed");
  });

  test.for(PRIVATE)("is allowed to a private address only by name: %s", (host) => {
    const url = `http://${host}:8080/v1`;
    expect(verdict(url, local)).toBe("denied");
    const name = new URL(url).hostname.replace(/\.$/, "");
    expect(verdict(url, { allowed: [name], open: true })).toBe("allowed");
  });
});

describe("ALLOWED_EGRESS", () => {
  const { allowed } = egressRules({
    ALLOWED_EGRESS: "api.example.com, *.Models.example:8443\n http://plain.example *.wild.example",
  });
  const rules = { allowed, open: false };

  test.for([
    "https://api.example.com/v1",
    "https://API.example.com:443/v1",
    "https://a.models.example:8443/",
    "https://a.b.models.example:8443/",
    "http://plain.example/",
    "https://x.wild.example/",
  ])("allows %s", (url) => {
    expect(verdict(url, rules)).toBe("allowed");
  });

  test.for([
    "https://example.com/",
    "https://evil-api.example.com/",
    "https://api.example.com.evil.example/",
    "https://api.example.com:8443/",
    "http://api.example.com/",
    "https://models.example:8443/",
    "https://a.models.example/",
    "https://evilmodels.example:8443/",
    "https://plain.example/",
    "https://wild.example/",
    "https://api.openai.com/",
  ])("denies %s", (url) => {
    expect(verdict(url, rules)).toBe("denied");
  });

  test("left out, allows a deployment the hosts of its secrets only", () => {
    const deployed = egressRules({ OPENAI_BASE_URL: "https://models.example:8443/v1" });
    expect(verdict("https://api.openai.com/v1", deployed)).toBe("allowed");
    expect(verdict("https://models.example:8443/v1", deployed)).toBe("allowed");
    expect(verdict("https://models.example/v1", deployed)).toBe("denied");
    expect(verdict("https://example.com/", deployed)).toBe("denied");
    const open = egressRules({ TROUPE_OPEN: "1" });
    expect(verdict("https://example.com/", open)).toBe("allowed");
  });

  test("is named by the error, with the host", () => {
    expect(() => checkEgress("https://other.example:99/", rules)).toThrow(
      /"other\.example:99".*ALLOWED_EGRESS/,
    );
  });
});

describe("guardedFetch", () => {
  test("sends allowed requests and nothing else", async () => {
    const sent: string[] = [];
    const send: typeof fetch = async (input) => {
      sent.push(input instanceof Request ? input.url : String(input));
      return new Response("hello");
    };
    const guarded = guardedFetch({ allowed: ["api.example.com"], open: false }, send);
    expect(await (await guarded("https://api.example.com/a")).text()).toBe("hello");
    await guarded(new Request("https://api.example.com/b"));
    await guarded(new URL("https://api.example.com/c"));
    await expect(guarded("https://evil.example/")).rejects.toThrow(EgressError);
    await expect(guarded(new Request("https://evil.example/"))).rejects.toThrow(EgressError);
    expect(sent).toEqual(["a", "b", "c"].map((path) => `https://api.example.com/${path}`));
  });

  test("logs its refusals, with the step and without the address", async () => {
    const entries: unknown[] = [];
    const guarded = guardedFetch({ allowed: ["api.example.com"], open: false }, fetch, (...entry) =>
      entries.push(...entry),
    );
    const run = crypto.randomUUID();
    const headers = { "Idempotency-Key": `${run}/3/speaker:a/tool:0:0/call` };
    await expect(guarded("https://evil.example/secret?key=1", { headers })).rejects.toThrow();
    await expect(guarded("https://evil.example:8443/")).rejects.toThrow();
    expect(entries).toEqual([
      {
        event: "request_refused",
        host: "evil.example",
        run,
        step: "3/speaker:a/tool:0:0/call",
        code: "egress_denied",
      },
      expect.objectContaining({ run: null, step: null }),
    ]);
  });

  test.for([301, 302, 303, 307, 308])("does not follow a redirect with %d", async (status) => {
    const redirects: unknown[] = [];
    const send: typeof fetch = async (_input, init?: RequestInit) => {
      redirects.push(init?.redirect);
      return new Response(null, { status, headers: { location: "https://evil.example/v1" } });
    };
    const guarded = guardedFetch(anywhere, send);
    await expect(guarded("https://api.example.com/", { redirect: "follow" })).rejects.toThrow(
      /api\.example\.com.*evil\.example/,
    );
    expect(redirects).toEqual(["manual"]);
  });
});
