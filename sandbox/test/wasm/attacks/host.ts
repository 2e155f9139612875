import { type Attack, python, shell } from "./attack.ts";

/** What is there besides the session: the host, the network, other sessions. */
export const HOST: readonly Attack[] = [
  // Files of the host.
  python("reads a file of the host", ({ file }) => `print(open(${JSON.stringify(file)}).read())`, {
    exitCode: 1,
    output: /FileNotFoundError/,
  }),
  python(
    "climbs out of the workspace",
    ({ file }) => `print(open("../../../../../..${file}").read())`,
    { exitCode: 1, output: /FileNotFoundError/ },
  ),
  python(
    "links to a file of the host",
    ({ file }) => `import os
os.symlink(${JSON.stringify(file)}, "link")
print(os.readlink("link"))
print(open("link").read())`,
    { exitCode: 1, output: /FileNotFoundError/ },
  ),
  python("looks for the host's users", `print(open("/etc/passwd").read())`, {
    exitCode: 1,
    output: /FileNotFoundError/,
  }),
  python(
    "reads the system's files about processes",
    `import glob
print(open("/proc/self/environ").read(), glob.glob("/proc/*"))`,
    { exitCode: 1, output: /Error/ },
  ),
  python(
    "writes to a directory of the host",
    ({ directory }) => `open("${directory}/written", "w").write("x")`,
    { exitCode: 1, output: /FileNotFoundError/ },
  ),
  python(
    "writes over the library of Python",
    `import os
for path in ("/lib/python314.zip", "/lib/python3.14/json.py", "/dev/null2", "/x"):
    try:
        open(path, "wb").write(b"x")
        print("written", path)
    except OSError as error:
        print(error.strerror)
os.remove("/lib/python314.zip")`,
    { exitCode: 1, output: /^(Read-only file system\n){4}[^]*OSError: \[Errno 69\]/ },
  ),
  python("changes modes outside of its places", `import os; os.chmod("/lib", 0o777)`, {
    exitCode: 1,
    output: /Read-only/,
  }),
  python(
    "makes a device to read the host's pipes with",
    `import os, stat
for major in range(1, 12):
    os.mknod(f"device{major}", 0o666 | stat.S_IFCHR, os.makedev(major, 0))`,
    { exitCode: 1, output: /Error/ },
  ),
  python(
    "reads from the terminal of the service",
    `for path in ("/dev/tty", "/dev/tty1", "/dev/stdin", "/dev/null"):
    print(path, open(path, "rb", buffering=0).read(100))`,
    { exitCode: 0, output: /^(\/dev\/\w+ b''\n){4}$/ },
  ),
  python(
    "reads what can only be written",
    `print(open("/dev/stdout", "rb", buffering=0).read(100))`,
    { exitCode: 1 },
  ),
  shell("reads a file of the host", ({ file }) => `cat ${file}; cat ../../../../..${file}`, {
    exitCode: 1,
    output: /No such file/,
  }),
  shell(
    "links to a file of the host",
    ({ file, directory }) =>
      `ln -s ${file} l; cat l; ln -s ${directory} d; ls d; echo x > d/written`,
    { output: /No such file/ },
  ),
  shell("lists the host", "ls / /root /home /etc /proc; find / -name passwd", {
    output: /No such file/,
  }),

  // The environment and processes of the host.
  python(
    "reads the environment",
    `import os, sys
print(dict(os.environ), os.getpid(), os.getppid(), sys.argv, sys.executable)`,
    { exitCode: 0, output: /HOME/ },
  ),
  shell("reads the environment", "env; export; echo $PPID; cat /proc/self/environ", {
    output: /HOME/,
  }),
  python("starts a program", `import subprocess; print(subprocess.run(["ls", "/"]))`, {
    exitCode: 1,
    output: /does not support processes/,
  }),
  python(
    "starts a program in other ways",
    ({ directory }) => `import os
print(os.system("touch ${directory}/system"))
for name in ("fork", "execv", "posix_spawn", "popen", "spawnl"):
    try:
        print(getattr(os, name)("/bin/sh", ["sh"]))
    except Exception as error:
        print(type(error).__name__)`,
    { exitCode: 0, output: /^32512\n(\w+Error\n){5}$/ },
  ),
  python(
    "kills the service",
    ({ pid }) => `import os
for victim in (${pid}, os.getppid(), 1, -1):
    try:
        os.kill(victim, 9)
        print("killed", victim)
    except OSError as error:
        print(type(error).__name__)`,
    {},
  ),
  shell(
    "kills the service",
    ({ pid }) => `kill -9 ${pid}; kill -9 $PPID; kill -9 -1; killall node`,
    {
      output: /not found/,
    },
  ),

  // The network.
  python(
    "connects to a server",
    ({ port }) => `import socket; socket.create_connection(("127.0.0.1", ${port}))`,
    { exitCode: 1, output: /gaierror/ },
  ),
  python(
    "connects past the names",
    ({ port }) => `import socket
s = socket.socket()
s.connect(("127.0.0.1", ${port}))`,
    { exitCode: 1, output: /PermissionError/ },
  ),
  python(
    "asks for a page",
    ({ port }) => `import urllib.request; urllib.request.urlopen("http://127.0.0.1:${port}/")`,
    { exitCode: 1, output: /URLError/ },
  ),
  python("listens", `import socket; socket.create_server(("0.0.0.0", 0))`, {
    exitCode: 1,
    output: /Error/,
  }),
  python(
    "connects in an event loop",
    ({ port }) => `import asyncio
asyncio.run(asyncio.open_connection("127.0.0.1", ${port}))`,
    { exitCode: 1, output: /Error/ },
  ),
  shell(
    "connects to a server",
    ({ port }) =>
      `curl http://127.0.0.1:${port}; wget http://127.0.0.1:${port}; echo x > /dev/tcp/127.0.0.1/${port}`,
    { output: /curl: command not found[^]*wget: command not found/ },
  ),

  // Other sessions.
  python(
    "looks for other sessions",
    `import os
print(sorted(os.listdir("/workspace")), sorted(os.listdir("/tmp")), os.listdir("/home"), open("/tmp/../workspace/secret.txt").read())`,
    { exitCode: 1, output: /FileNotFoundError/ },
  ),
  shell(
    "looks for other sessions",
    "find / -name 'secret*' 2>/dev/null; ls -R /workspace /tmp; echo done",
    {
      output: /done/,
    },
  ),
];
