// Start the stdio mode of the everything-server.

process.argv[2] = 'stdio';
await import('@modelcontextprotocol/server-everything/dist/index.js');
