// Start the Streamable HTTP mode of the everything-server on a free port.

import { connect, createServer } from 'node:net';

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

const accepts = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, 'localhost', () => resolve(true) || socket.end());
    socket.on('error', () => resolve(false));
  });

const port = await freePort();
process.env.PORT = String(port);
process.argv[2] = 'streamableHttp';
const say = console.log;
console.log = console.error; // the one line below is all that stdout is for
await import('@modelcontextprotocol/server-everything/dist/index.js');
while (!(await accepts(port))) await new Promise((resolve) => setTimeout(resolve, 20));
say(`listening on http://localhost:${port}/mcp`);
process.stdin.resume().on('end', () => process.exit(0));
