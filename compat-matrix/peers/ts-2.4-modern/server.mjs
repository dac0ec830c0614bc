// A modern-only server on the TypeScript SDK 2.4: it refuses a handshake. With
// --dual it serves legacy clients too; with --http it listens on a free port.

import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  McpServer,
  completable,
  createMcpHandler,
  inputRequired,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

const text = (value) => ({ content: [{ type: 'text', text: value }] });

const form = (message, name, type = 'string') =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] },
  });

const sampling = (value, more = {}) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: `Summarise: ${value}` } }],
    maxTokens: 100,
    ...more,
  });

const ask = (inputRequests, requestState) =>
  inputRequired(requestState === undefined ? { inputRequests } : { inputRequests, requestState });

const answers = (ctx) => ctx.mcpReq.inputResponses ?? {};

const state = (ctx) => {
  const value = ctx.mcpReq.requestState;
  return typeof value === 'function' ? value() : value;
};

const note = (line) => {
  if (process.env.PEER_LOG) appendFileSync(process.env.PEER_LOG, `${line}\n`);
};

async function progress(ctx, steps) {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  for (let step = 1; step <= steps; step += 1) {
    const params = { progressToken, progress: step, total: steps, message: `step ${step}` };
    await ctx.mcpReq.notify({ method: 'notifications/progress', params });
  }
}

const pause = (seconds, signal) =>
  sleep(seconds * 1000, undefined, { signal }).catch((error) => {
    note('cancelled slow');
    throw error;
  });

function addTools(server) {
  const tool = (name, shape, handler) =>
    server.registerTool(name, { inputSchema: z.object(shape) }, handler);

  tool('echo', { text: z.string() }, async (args) => text(args.text));
  tool('client_features', {}, async (_args, ctx) =>
    text(JSON.stringify(Object.keys(ctx.mcpReq.envelope?.[CAPABILITIES] ?? {}).sort())),
  );
  tool('issue_card', { book: z.string() }, async ({ book }, ctx) => {
    const answer = answers(ctx).name;
    if (answer === undefined) return ask({ name: form('Whose card is it?', 'name') });
    if (answer.action === 'accept') return text(`card for ${answer.content.name}: ${book}`);
    return text(answer.action === 'decline' ? 'declined' : 'cancelled');
  });
  tool('link_account', {}, async (_args, ctx) => {
    const answer = answers(ctx).link;
    if (answer !== undefined) return text(`linked: ${answer.action}`);
    const page = { message: 'Open the page', url: 'https://example.com/link' };
    return ask({ link: inputRequired.elicitUrl(page) });
  });
  tool('summarise', { text: z.string() }, async (args, ctx) => {
    const answer = answers(ctx).summary;
    return answer === undefined
      ? ask({ summary: sampling(args.text) })
      : text(`summary: ${answer.content.text}`);
  });
  tool('use_tools', {}, async (_args, ctx) => {
    const answer = answers(ctx).time;
    if (answer !== undefined) return text(`stop: ${answer.stopReason ?? 'None'}`);
    const tools = [{ name: 'clock', inputSchema: { type: 'object' } }];
    return ask({ time: sampling('the time', { tools, toolChoice: { mode: 'auto' } }) });
  });
  tool('workspace', {}, async (_args, ctx) => {
    const answer = answers(ctx).roots;
    return answer === undefined
      ? ask({ roots: inputRequired.listRoots() })
      : text(answer.roots.map((root) => root.uri).join(','));
  });
  tool('two_rounds', {}, async (_args, ctx) => {
    const { first, second } = answers(ctx);
    if (second !== undefined) return text(`${state(ctx)} then ${second.content.second}`);
    if (first === undefined) return ask({ first: form('First?', 'first') });
    const said = first.content.first;
    return ask({ second: form(`After ${said}?`, 'second') }, said);
  });
  tool('three_questions', {}, async (_args, ctx) => {
    const { name, summary, roots } = answers(ctx);
    if (name === undefined) {
      const questions = { name: form('Name?', 'name'), summary: sampling('three') };
      return ask({ ...questions, roots: inputRequired.listRoots() });
    }
    return text(`${name.content.name} / ${summary.content.text} / ${roots.roots.length}`);
  });
  tool('endless', {}, async (_args, ctx) => {
    const number = Number(state(ctx) ?? 0) + 1;
    return ask({ [`q${number}`]: form(`Question ${number}?`, 'name') }, String(number));
  });
  tool('insist', {}, async (_args, ctx) =>
    answers(ctx).agree?.action === 'accept' ? text('agreed') : ask({ agree: form('Agree?', 'name') }),
  );
  const region = z.string().meta({ 'x-mcp-header': 'Region' });
  tool('regional', { region }, async (args) => text(`served from ${args.region}`));
  tool('patience', { legs: z.number() }, async ({ legs }, ctx) => {
    const waited = Number(state(ctx) ?? 0);
    if (waited < legs) return inputRequired({ requestState: String(waited + 1) });
    return text(`done after ${legs} legs`);
  });
  // Asks as tools of the legacy era do, whatever the connection is.
  tool('old_way', {}, async (_args, ctx) => {
    const requestedSchema = {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    };
    const answer = await ctx.mcpReq.elicitInput({ message: 'Whose card is it?', requestedSchema });
    return text(`card for ${answer.content?.name}`);
  });
  tool('chatty', {}, async (_args, ctx) => {
    for (const level of ['debug', 'info', 'warning', 'error']) {
      await ctx.mcpReq.log(level, `${level} message`, 'peer');
    }
    return text('logged');
  });
  tool('count', { steps: z.number() }, async ({ steps }, ctx) => {
    await progress(ctx, steps);
    return text('counted');
  });
  tool('count_and_ask', { steps: z.number() }, async ({ steps }, ctx) => {
    await progress(ctx, steps);
    if (answers(ctx).go === undefined) return ask({ go: form('Go on?', 'go', 'boolean') });
    return text('counted twice');
  });
  tool('add_tool', {}, async () => {
    if (http === undefined) tool('extra', {}, async () => text('extra'));
    else http.notify.toolsChanged();
    return text('added');
  });
  tool('touch', { uri: z.string() }, async ({ uri }) => {
    if (http === undefined) await server.server.sendResourceUpdated({ uri });
    else http.notify.resourceUpdated(uri);
    return text('touched');
  });
  tool('slow', { seconds: z.number() }, async ({ seconds }, ctx) => {
    note('started slow');
    await pause(seconds, ctx.mcpReq.signal);
    return text('slept');
  });
  tool('fail', {}, async () => ({ ...text('it failed'), isError: true }));
  tool('crash', {}, async () => {
    process.stderr.write('crashing on request\n', () => process.exit(3));
    return new Promise(() => {});
  });
}

function addPrompts(server) {
  const said = (value) => ({
    messages: [{ role: 'user', content: { type: 'text', text: value } }],
  });
  const names = (value) => ['Ada', 'Alan'].filter((name) => name.startsWith(value));
  const argsSchema = z.object({ name: completable(z.string(), names) });
  server.registerPrompt('greeting', { argsSchema }, ({ name }) => said(`Hello ${name}`));
  server.registerPrompt('asking_prompt', {}, async (ctx) => {
    const answer = answers(ctx).topic;
    return answer === undefined
      ? ask({ topic: form('Topic?', 'topic') })
      : said(`Write about ${answer.content.topic}`);
  });
}

function addResources(server) {
  const page = (uri, value) => ({ contents: [{ uri: uri.href, text: value }] });
  server.registerResource('plain', 'note://plain', {}, (uri) => page(uri, 'a plain note'));
  server.registerResource('asking', 'note://asking', {}, async (uri, ctx) => {
    const answer = answers(ctx).page;
    return answer === undefined
      ? ask({ page: form('Page?', 'page') })
      : page(uri, `page ${answer.content.page}`);
  });
}

function makeServer() {
  const server = new McpServer(
    { name: 'anyera-peer', version: '1.0' },
    {
      instructions: 'A peer for tests.',
      capabilities: { logging: {}, resources: { subscribe: true }, tools: { listChanged: true } },
    },
  );
  addTools(server);
  addPrompts(server);
  addResources(server);
  return server;
}

const flags = new Set(process.argv.slice(2));
const legacy = flags.has('--dual') ? undefined : 'reject';
// Over HTTP every request has a server of its own, so changes are told through this.
const http = flags.has('--http') ? createMcpHandler(makeServer, { legacy }) : undefined;

if (http === undefined) {
  serveStdio(makeServer, { legacy });
} else {
  const listener = createServer(toNodeHandler(http));
  listener.listen(0, '127.0.0.1', () => {
    console.log(`listening on http://127.0.0.1:${listener.address().port}/mcp`);
  });
  process.stdin.resume().on('end', () => process.exit(0));
}
