// A test server as a program: node server-program.ts KIND PORT. Prints "listening".
import { type Kind, TestMcpServer } from "./test-server.ts";

const [kind, port] = process.argv.slice(2);
await TestMcpServer.start(kind as Kind, Number(port));
process.stdout.write("listening\n");
