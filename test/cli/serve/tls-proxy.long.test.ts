import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { json } from "node:stream/consumers";
import { expect, vi } from "vitest";
import { PATIENCE } from "../../support/patience.ts";
import { freePort } from "../../support/ports.ts";
import { testWith } from "../../support/programs.ts";
import { BuiltProject, Served } from "./support/served.ts";

const NGINX = resolve(import.meta.dirname, "../../../self-hosting/nginx.conf");

testWith("nginx", "openssl")("nginx with the file of the project serves it over TLS", async () => {
  using project = await BuiltProject.make();
  const [port, tlsPort] = [await freePort(), await freePort()];
  await using server = await Served.ready(project, port, ["--behind-proxy"]);
  const directory = mkdtempSync(join(tmpdir(), "troupe-nginx-"));
  const [certificate, key] = [join(directory, "certificate.pem"), join(directory, "key.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync(
    "openssl",
    // prettier-ignore
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, "-keyout", key, "-out", certificate],
    { stdio: "ignore" },
  );
  const site = readFileSync(NGINX, "utf8")
    .replaceAll("/etc/ssl/troupe", directory)
    .replaceAll("troupe.example.com", "localhost")
    .replace("listen 443 ssl", `listen 127.0.0.1:${tlsPort} ssl`)
    .replace("    listen [::]:443 ssl;\n", "")
    .replace("127.0.0.1:8787", `127.0.0.1:${port}`);
  const config = join(directory, "nginx.conf");
  writeFileSync(
    config,
    `pid ${directory}/pid; error_log stderr; daemon off; events {} http { access_log off; ${temporary(directory)} ${site} }`,
  );
  const nginx = spawn("nginx", ["-c", config, "-p", directory], { stdio: "ignore" });
  try {
    const ca = readFileSync(certificate);
    const apiKey = readFileSync(join(project.state, "api-key"), "utf8").trim();
    const whoAmI = (): Promise<unknown> => askOverTls(tlsPort, ca, apiKey);
    await vi.waitUntil(() => whoAmI().catch(() => undefined), PATIENCE);
    expect(await whoAmI()).toMatchObject({ tenant: "local" });
    await server.line(({ path, status }) => path === "/v1/whoami" && status === 200);
  } finally {
    nginx.kill("SIGTERM");
    await once(nginx, "close");
    rmSync(directory, { recursive: true, force: true });
  }
});

function temporary(directory: string): string {
  return ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${directory}/${name};`)
    .join(" ");
}

function askOverTls(port: number, ca: Buffer, key: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` };
  return new Promise((answered, failed) => {
    request({ host: "localhost", port, path: "/v1/whoami", ca, headers }, (response) => {
      json(response).then(answered, failed);
    })
      .on("error", failed)
      .end();
  });
}
