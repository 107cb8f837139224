// A stand-in for the hub's pages, for the tests of the dashboard's modules: it serves fixture pages under the real
// content security policy and an event stream that a test controls.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { extname } from 'node:path';

export const APP = new URL('../../../server/static/app/', import.meta.url);
const TYPES = { '.js': 'text/javascript', '.css': 'text/css' };
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
  + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

export const escape = (text) => String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The frame of every page, as `shell.html` renders it. */
export function frame({ title = 'Home', main = '', mainAttributes = '', live = true, cursor = 0, wait = 0, tasks = 0, after = '' }) {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/static/h/fixture.css">
<script src="/static/h/theme-boot.js"></script><script type="module" src="/static/h/app.js"></script></head>
<body><div class="frame"><nav class="rail" aria-label="Main"><a class="brand" href="/app/ada">Tandem</a><ul class="rail-links">
<li><a href="/app/ada/approvals"><span class="label">Approvals</span><span class="count count-wait" id="count-approvals" data-live>${wait}</span></a></li>
<li><a href="/app/ada/tasks"><span class="label">Tasks</span><span class="count" id="count-tasks" data-live>${tasks}</span></a></li>
<li><a href="/app/ada/events"><span class="label">Events</span></a></li></ul></nav>
<div class="content"><header class="bar"><h1>${escape(title)}</h1>
<form class="search" role="search" action="/app/ada/tasks"><input name="q" type="search" id="search"></form>
${live ? `<p class="live" id="live" role="status" data-stream="/app/ada/live" data-cursor="${cursor}" data-state="off">Reload to update</p>` : ''}
</header><main id="main" ${mainAttributes}>${main}</main></div></div>
<div class="toasts" id="toasts" role="status"></div>${after}</body></html>`;
}

export class Fixture {
  constructor() {
    /** Path to what answers: HTML, or a function of request and response. */
    this.pages = {};
    this.log = [];
    this.streams = new Set();
    /** The `after` of every stream that was opened. */
    this.opened = [];
    /** Every request but those for assets: method, path, body. */
    this.requests = [];
    this.refusesStreams = false;
    this.running = 0;
    this.runningMax = 0;
  }

  async start() {
    this.server = http.createServer((request, response) => void this.answer(request, response));
    await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
    this.origin = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  async answer(request, response) {
    const url = new URL(request.url, 'http://hub');
    if (url.pathname.startsWith('/static/')) return asset(url.pathname, response);
    let body = '';
    for await (const piece of request) body += piece;
    this.requests.push({ method: request.method, path: url.pathname, live: request.headers['x-live'], body, at: Date.now() });
    if (url.pathname === '/app/ada/live') return this.stream(url, request, response);
    const page = this.pages[url.pathname];
    response.setHeader('content-security-policy', CSP);
    response.setHeader('cache-control', 'no-cache');
    if (page === undefined) return response.writeHead(404).end('not found');
    this.running += 1;
    this.runningMax = Math.max(this.runningMax, this.running);
    response.on('close', () => { this.running -= 1; });
    if (typeof page === 'function') return page(request, response, this);
    return sendHtml(response, page);
  }

  stream(url, request, response) {
    if (this.refusesStreams) return response.writeHead(503).end();
    const after = Number(request.headers['last-event-id'] ?? url.searchParams.get('after'));
    this.opened.push(after);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(': hello\n\n');
    this.streams.add(response);
    response.on('close', () => this.streams.delete(response));
    // Repeats the last event, which a hub may do.
    for (const entry of this.log) if (entry.id >= after) this.send(response, entry);
  }

  send(response, entry) {
    response.write(`id: ${entry.id}\nevent: log\ndata: ${JSON.stringify(entry)}\n\n`);
  }

  /** Appends an event to the log and sends it to all open streams. */
  emit(fields = {}) {
    const id = fields.id ?? (this.log.at(-1)?.id ?? 0) + 1;
    const entry = { id, type: 'task.updated', taskId: `task_${id}`, fromAgentId: 'agent_bob', data: { status: 'working' },
      createdAt: new Date().toISOString(), ...fields };
    this.log.push(entry);
    for (const stream of this.streams) this.send(stream, entry);
    return entry;
  }

  /** Breaks every stream, as a network does. */
  dropStreams() {
    for (const stream of this.streams) stream.destroy();
    this.streams.clear();
  }

  refreshes() {
    return this.requests.filter((request) => request.live !== undefined);
  }
}

const REGION = /<(\w+)(?= [^>]*\bdata-live\b)[^>]*\bid="([^"]+)"[^>]*>[^]*?<\/\1>|<title>[^]*?<\/title>/g;

/** Sends a page, or the regions of it that the browser has in another version, as the hub does. */
export function sendHtml(response, html, status = 200) {
  const regions = [...html.matchAll(REGION)].map(([text, , id = 'title']) =>
    ({ id, text, version: createHash('sha256').update(text).digest('hex').slice(0, 12) }));
  const versions = `<template id="versions">${regions.map(({ id, version }) => `${id}.${version}`).join(',')}</template>`;
  const known = (response.req.headers['x-live'] ?? '').split(',').map((one) => one.split('.'));
  const isSame = known.map(([id]) => id).join() === regions.map(({ id }) => id).join();
  const changed = regions.filter(({ version }, place) => version !== known[place]?.[1]);
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
    .end(isSame ? changed.map(({ text }) => text).join('') + versions : html.replace('</body>', `${versions}</body>`));
}

function asset(path, response) {
  const name = path.split('/').pop();
  const type = TYPES[extname(name)];
  if (!type) return response.writeHead(404).end();
  const text = name === 'fixture.css' ? '.sr{position:absolute;clip-path:inset(50%)}[hidden]{display:none}' : readFileSync(new URL(name, APP));
  return response.writeHead(200, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(text);
}
