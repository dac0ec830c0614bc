// The TypeScript SDK 1.32, which knows legacy servers only, as an application uses it.
// Usage: node client.mjs '{"command": ..., "args": [...]}' or '{"url": ...}'. What came
// of each thing is printed as one JSON object.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';

const ANSWERS = { name: 'Ada', first: 'one', second: 'two', go: true, topic: 'sea', page: '7' };
const place = JSON.parse(process.argv[2]);
const heard = { progress: [], logs: [], changes: [] };

const until = async (condition) => {
  for (const end = Date.now() + 10_000; !condition(); ) {
    if (Date.now() > end) throw new Error('nothing was heard in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

const client = new Client(
  { name: 'ts-1.32-client', version: '1.0' },
  { capabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} } },
);
client.setRequestHandler(types.ElicitRequestSchema, async ({ params }) => {
  if (params.mode === 'url') return { action: 'accept' };
  const names = Object.keys(params.requestedSchema.properties);
  return { action: 'accept', content: Object.fromEntries(names.map((n) => [n, ANSWERS[n]])) };
});
client.setRequestHandler(types.CreateMessageRequestSchema, async () => ({
  role: 'assistant',
  model: 'none',
  content: { type: 'text', text: 'short' },
}));
client.setRequestHandler(types.ListRootsRequestSchema, async () => ({
  roots: [{ uri: 'file:///srv/books' }],
}));
client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => {
  heard.logs.push(params.level);
});
for (const schema of [
  types.ToolListChangedNotificationSchema,
  types.ResourceUpdatedNotificationSchema,
]) {
  client.setNotificationHandler(schema, ({ method }) => void heard.changes.push(method));
}

await client.connect(
  place.url === undefined
    ? new StdioClientTransport({ ...place, env: { ...process.env } })
    : new StreamableHTTPClientTransport(new URL(place.url)),
);

const call = async (name, args = {}, options = undefined) =>
  (await client.callTool({ name, arguments: args }, undefined, options)).content[0].text;

const done = {
  echo: await call('echo', { text: 'é\u2028x' }),
  issue_card: await call('issue_card', { book: 'Dune' }),
  link_account: await call('link_account'),
  summarise: await call('summarise', { text: 't' }),
  workspace: await call('workspace'),
  two_rounds: await call('two_rounds'),
  three_questions: await call('three_questions'),
  patience: await call('patience', { legs: 3 }),
  regional: await call('regional', { region: 'north' }),
  use_tools: await call('use_tools'),
};
const onprogress = ({ progress }) => void heard.progress.push(progress);
done.count_and_ask = await call('count_and_ask', { steps: 2 }, { onprogress });
done.progress = heard.progress;
const prompt = await client.getPrompt({ name: 'asking_prompt' });
done.prompt = prompt.messages[0].content.text;
done.resource = (await client.readResource({ uri: 'note://asking' })).contents[0].text;
const ref = { type: 'ref/prompt', name: 'greeting' };
const argument = { name: 'name', value: 'Al' };
done.complete = (await client.complete({ ref, argument })).completion.values;
done.fail = (await client.callTool({ name: 'fail', arguments: {} })).isError;
await client.ping();
await client.setLoggingLevel('warning');
await call('chatty');
await until(() => heard.logs.length === 2);
done.logs = heard.logs;
await client.subscribeResource({ uri: 'note://plain' });
await call('touch', { uri: 'note://plain' });
await until(() => heard.changes.includes('notifications/resources/updated'));
await call('add_tool');
await until(() => heard.changes.includes('notifications/tools/list_changed'));
done.changes = 'heard';
const cancelled = new AbortController();
setTimeout(() => cancelled.abort(new Error('enough')), 200);
done.cancel = await call('slow', { seconds: 60 }, { signal: cancelled.signal }).catch(
  (error) => `ended: ${error.message.includes('enough')}`,
);
done.after = await call('echo', { text: 'still here' });
await client.close();
console.log(JSON.stringify(done));
process.exit(0);
