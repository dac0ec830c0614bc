// The grid and its filters; a cell opens with its transcript.
const data = JSON.parse(document.getElementById('data').textContent);
const filters = document.getElementById('filters');
const grid = document.getElementById('grid');
const dialog = document.getElementById('cell');
const LAYERS = { anyera: ['application', 'mcp-anyera'], bridge: ['legacy client', 'anyera bridge'] };
const MARKS = { pass: '✓', gap: '◐', fail: '✗', unsupported: '·', error: '!' };

const kind = (cell) => (cell.gap === undefined ? cell.verdict : 'gap');
const title = (side, name) => data[side][name]?.title ?? name;
const place = (pair) => `${pair.server}|${pair.transport}`;
const value = (name) => filters.elements[name].value;

function counts(cells) {
  const found = Object.fromEntries(Object.keys(MARKS).map((name) => [name, 0]));
  for (const cell of cells) found[kind(cell)] += 1;
  return found;
}

function worst(found) {
  return ['error', 'fail', 'gap', 'pass', 'unsupported'].find((name) => found[name]) ?? 'unsupported';
}

// -- what is chosen ------------------------------------------------------------------

function scenarios() {
  const wanted = value('scenario').toLowerCase();
  return Object.keys(data.scenarios).filter(
    (name) => name.includes(wanted) || data.scenarios[name].sentence.toLowerCase().includes(wanted),
  );
}

function pairs() {
  const [group, transport] = [value('group'), value('transport')];
  return data.pairs.filter(
    (pair) =>
      (!group || data.clients[pair.client].group === group) &&
      (!transport || pair.transport === transport),
  );
}

const visible = (cell) => cell && (!value('verdict') || kind(cell) === value('verdict'));

// -- tables --------------------------------------------------------------------------

function heading(row, text, small) {
  const th = make('th', '', text);
  th.scope = row ? 'row' : 'col';
  if (small) th.append(make('small', '', small));
  return th;
}

function table(corner, columns, rows, cellOf) {
  const root = make('table');
  const head = make('tr');
  head.append(heading(false, corner), ...columns.map((each) => heading(false, each.text, each.small)));
  root.append(make('thead'));
  root.tHead.append(head);
  const body = make('tbody');
  for (const row of rows) {
    const cells = columns.map((column) => cellOf(row, column));
    if (!cells.some((cell) => cell.firstChild)) continue;
    const tr = make('tr');
    tr.append(heading(true, row.text, row.small), ...cells);
    body.append(tr);
  }
  root.append(body);
  return root;
}

function button(className, text, label, action) {
  const td = make('td', className);
  const inner = make('button', '', text);
  inner.type = 'button';
  inner.tabIndex = -1;
  inner.setAttribute('aria-label', label);
  inner.title = label;
  inner.addEventListener('click', action);
  td.append(inner);
  return td;
}

function overview() {
  const shown = pairs();
  const columns = [...new Set(shown.map(place))].map((key) => {
    const [server, transport] = key.split('|');
    return { key, text: title('servers', server), small: transport };
  });
  const rows = [...new Set(shown.map((pair) => pair.client))].map((client) => ({
    key: client,
    text: title('clients', client),
    small: data.clients[client].group,
  }));
  const ids = scenarios();
  return table('Client', columns, rows, (row, column) => {
    const pair = shown.find((each) => each.client === row.key && place(each) === column.key);
    const cells = pair ? ids.map((id) => pair.cells[id]).filter(visible) : [];
    if (!cells.length) return make('td', 'empty');
    const found = counts(cells);
    const text = Object.entries(MARKS).filter(([name]) => found[name] && name !== 'unsupported');
    const said = text.map(([name, mark]) => `${mark}${found[name]}`).join(' ') || '·';
    const label = `${row.text} with ${column.text} over ${column.small}: ${said}`;
    return button(worst(found), said, label, () => {
      open({ view: 'server', server: column.key });
      focusOn(`${row.key}|`);
    });
  });
}

// Scenarios down, and across: every client of one server, or every server of one client.
function detail(shown, columnOf) {
  const columns = shown.map((pair) => ({ pair, ...columnOf(pair) }));
  const rows = scenarios().map((id) => ({ key: id, text: id, small: data.scenarios[id].sentence }));
  return table('Scenario', columns, rows, (row, column) => {
    const cell = column.pair.cells[row.key];
    if (!visible(cell)) return make('td', 'empty');
    const label = `${row.key}, ${column.text}: ${kind(cell)}: ${cell.outcome}`;
    const td = button(kind(cell), MARKS[kind(cell)], label, () => show(column.pair, row.key));
    td.firstChild.dataset.cell = key(column.pair, row.key);
    return td;
  });
}

const key = (pair, id) => [pair.client, pair.server, pair.transport, id].join('|');

function draw() {
  const view = value('view');
  document.getElementById('pick-server').hidden = view !== 'server';
  document.getElementById('pick-client').hidden = view !== 'client';
  let made;
  if (view === 'server') {
    const shown = pairs().filter((pair) => place(pair) === value('server'));
    made = detail(shown, (pair) => ({ text: title('clients', pair.client), small: pair.revision ?? '' }));
  } else if (view === 'client') {
    const shown = pairs().filter((pair) => pair.client === value('client'));
    made = detail(shown, (pair) => ({ text: title('servers', pair.server), small: pair.transport }));
  } else made = overview();
  const empty = !made.tBodies[0].rows.length;
  grid.replaceChildren(empty ? make('p', '', 'Nothing matches the filters.') : made);
  const first = grid.querySelector('td button');
  if (first) first.tabIndex = 0;
  tell();
}

function tell() {
  const ids = scenarios();
  const cells = pairs().flatMap((pair) => ids.map((id) => pair.cells[id]).filter(visible));
  const found = Object.entries(counts(cells)).filter(([, number]) => number);
  const said = found.map(([name, number]) => `${number} ${name === 'gap' ? 'known gaps' : name}`);
  document.getElementById('counts').textContent = `${cells.length} cells: ${said.join(', ') || 'none'}`;
}

// -- one cell ------------------------------------------------------------------------

function paragraph(...parts) {
  const made = make('p');
  made.append(...parts);
  return made;
}

function link(url) {
  const made = make('a', '', url.replace('https://', ''));
  made.href = url;
  return made;
}

async function show(pair, id) {
  const cell = pair.cells[id];
  const scenario = data.scenarios[id];
  const names = `${title('clients', pair.client)} with ${title('servers', pair.server)}`;
  document.getElementById('cell-title').textContent = `${id}: ${names}, ${pair.transport}`;
  const body = document.getElementById('cell-body');
  const badge = make('span', `badge ${kind(cell)}`, `${MARKS[kind(cell)]} ${kind(cell)}`);
  body.replaceChildren(paragraph(badge, ' ', scenario.sentence));
  const seconds = cell.seconds ? ` (${cell.seconds.toFixed(2)} s)` : '';
  body.append(paragraph('What came: ', make('code', '', cell.outcome), seconds));
  if (cell.gap !== undefined) {
    const gap = data.gaps[cell.gap];
    body.append(paragraph(`Known gap: ${gap.reason} `, ...gap.links.flatMap((url) => [link(url), ' '])));
  }
  body.append(paragraph('Specification: ', ...scenario.links.flatMap((url) => [link(url), ' '])));
  location.hash = encodeURIComponent(key(pair, id));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  body.append(await drawn(pair, id));
}

async function drawn(pair, id) {
  const sides = await unpack(pair.transcript);
  const begun = (side) => sides[side]?.[id] ?? [];
  const refused = !begun('wire').length && pair.cells[id].outcome.startsWith('not connected');
  const at = refused ? 'connect' : id;
  const wire = sides.wire?.[at] ?? [];
  const face = sides.face?.[at] ?? [];
  const layer = data.clients[pair.client].group !== 'sdk' && face.length > 0;
  const server = title('servers', pair.server);
  if (!wire.length && !face.length) return make('p', '', 'Nothing passed in this scenario.');
  const [left, middle] = LAYERS[data.clients[pair.client].group] ?? LAYERS.anyera;
  const lanes = layer
    ? [
        { records: face, left, right: middle },
        { records: wire, left: middle, right: server },
      ]
    : [{ records: wire, left: title('clients', pair.client), right: server }];
  const made = make('div');
  if (refused) made.append(make('p', '', 'There was no connection; this is how it was tried:'));
  made.append(diagram(lanes));
  return made;
}

// -- filters, keys and the address -----------------------------------------------------

function option(select, text, given) {
  const made = make('option', '', text);
  made.value = given;
  select.append(made);
}

function open(wanted) {
  for (const [name, given] of Object.entries(wanted)) filters.elements[name].value = given;
  draw();
}

// Only one cell can be reached with the Tab key; the arrow keys go on from there.
function focusOn(start) {
  const found = [...grid.querySelectorAll('td button')];
  const next = found.find((each) => each.dataset.cell?.startsWith(start)) ?? found[0];
  for (const each of found) each.tabIndex = each === next ? 0 : -1;
  next?.focus();
}

function move(event) {
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const step = steps[event.key];
  const from = document.activeElement.closest?.('td');
  if (!step || !from) return;
  event.preventDefault();
  const rows = [...grid.querySelectorAll('tbody tr')];
  let [x, y] = [from.cellIndex + step[0], rows.indexOf(from.parentElement) + step[1]];
  while (rows[y]?.cells[x]) {
    const next = rows[y].cells[x].querySelector('button');
    if (next) {
      document.activeElement.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      return;
    }
    [x, y] = [x + step[0], y + step[1]];
  }
}

function follow() {
  const [client, server, transport, id] = decodeURIComponent(location.hash.slice(1)).split('|');
  const pair = data.pairs.find(
    (each) => each.client === client && each.server === server && each.transport === transport,
  );
  if (!pair?.cells[id]) return;
  open({ view: 'server', server: place(pair) });
  focusOn(key(pair, id));
  show(pair, id);
}

function facts() {
  const day = data.started.slice(0, 16).replace('T', ' ');
  const minutes = Math.max(1, Math.round(data.seconds / 60));
  const state = data.complete ? '' : ' — the run was not completed';
  const said = `${day} UTC, ${minutes} min, Python ${data.python}, ${data.platform}${state}`;
  document.getElementById('facts').textContent = said;
}

const places = [...new Set(data.pairs.map(place))];
for (const each of places) {
  const [server, transport] = each.split('|');
  option(filters.elements.server, `${title('servers', server)}, ${transport}`, each);
}
for (const name of Object.keys(data.clients)) option(filters.elements.client, title('clients', name), name);
const groups = { sdk: 'the SDK alone', anyera: 'mcp-anyera', bridge: 'the bridge', frameworks: 'frameworks', yours: 'yours' };
option(filters.elements.group, 'all', '');
for (const name of new Set(Object.values(data.clients).map((each) => each.group))) {
  option(filters.elements.group, groups[name] ?? name, name);
}
filters.addEventListener('input', draw);
filters.addEventListener('submit', (event) => event.preventDefault());
grid.addEventListener('keydown', move);
document.getElementById('close').addEventListener('click', () => dialog.close());
dialog.addEventListener('close', () => history.replaceState(null, '', location.pathname + location.search));
facts();
draw();
follow();
