// Draws a transcript as a sequence diagram: one lane between each two parties.
'use strict';

const make = (tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

const subject = (params = {}) => params.name ?? params.uri ?? params.level ?? params.message ?? '';

function resultLabel(result) {
  if (result.inputRequests || result.resultType === 'input_required') {
    const asked = Object.entries(result.inputRequests ?? {});
    const names = asked.map(([key, value]) => `${key}: ${value?.method ?? '?'}`);
    return `input required (${names.join(', ') || 'state only'})`;
  }
  if (result.action) return `answer: ${result.action} ${JSON.stringify(result.content ?? {})}`;
  const parts = Array.isArray(result.content) ? result.content : [];
  const said = parts.map((part) => part?.text ?? '').join(' ');
  if (said) return `${result.isError ? 'error result' : 'result'}: ${said}`;
  return `result ${result.protocolVersion ?? result.supportedVersions ?? ''}`.trim();
}

// What an arrow says, whether it is a reply, and whether it is bad news.
function labelled(message, methods) {
  if (Array.isArray(message)) return { label: `batch of ${message.length}` };
  if (message === null || typeof message !== 'object') return { label: String(message) };
  if (message.method) {
    if (message.id !== undefined) methods.set(message.id, message.method);
    return { label: `${message.method} ${subject(message.params)}`.trim() };
  }
  if (message.error) {
    const label = `error ${message.error.code}: ${message.error.message}`;
    return { label, reply: true, bad: true };
  }
  if (message.result) {
    const method = methods.get(message.id);
    const label = resultLabel(message.result) + (method ? ` — ${method}` : '');
    return { label, reply: true, bad: message.result.isError === true };
  }
  return { label: message.text ?? '', reply: message.text === '' };
}

function arrow(record, methods) {
  const { reply, bad, ...said } = labelled(record.m, methods);
  const label = said.label || record.http || '(nothing)';
  const kind = record.d === 'note' ? 'note' : record.d;
  const details = make('details', `arrow ${kind}${reply ? ' reply' : ''}${bad ? ' bad' : ''}`);
  const summary = make('summary', '', label.length > 150 ? `${label.slice(0, 150)}…` : label);
  if (record.http && said.label) summary.append(' ', make('span', 'tag', record.http));
  details.append(summary);
  const headers = Object.entries(record.headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  const lines = [...(record.http ? [record.http] : []), ...headers];
  const body = JSON.stringify(record.m, null, 2);
  details.append(make('pre', '', [...lines, ...(lines.length ? [''] : []), body].join('\n')));
  return details;
}

function heads(lane, left, right) {
  const row = make('div', `heads lane-${lane}`);
  row.append(make('b', '', left), make('b', '', right));
  return row;
}

// lanes: [{records, left, right}]; the times of all are the same clock.
function diagram(lanes) {
  const root = make('div', `diagram ${lanes.length > 1 ? 'two' : 'one'}`);
  root.append(make('div', 'time', 'seconds'));
  lanes.forEach((lane, index) => root.append(heads(index, lane.left, lane.right)));
  const rows = lanes.flatMap((lane, index) => lane.records.map((record) => ({ record, index })));
  rows.sort((a, b) => a.record.t - b.record.t);
  const methods = lanes.map(() => new Map());
  const zero = rows[0]?.record.t ?? 0;
  for (const { record, index } of rows) {
    root.append(make('div', 'time', (record.t - zero).toFixed(3)));
    lanes.forEach((_, place) => {
      const cell = make('div', `lane lane-${place}`);
      if (place === index) cell.append(arrow(record, methods[index]));
      root.append(cell);
    });
  }
  return root;
}
