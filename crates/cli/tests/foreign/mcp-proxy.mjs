// Loopback proxy that adds `Authorization: Bearer KEY` to every request, for clients that cannot do it
// themselves (the MCP conformance suite has no header option). No dependencies.
//
//   node proxy.mjs TARGET_URL KEY [PORT]      (or env TARGET_URL, MCP_KEY, PORT; port 0 = any free one)
//
// Prints one line {"port":12345,"url":"http://127.0.0.1:12345/mcp","target":"..."} and runs until killed.
// Method, path and all other headers pass unchanged (spelling, order, Host and Origin included, so the
// DNS-rebinding scenario tests the target and not the proxy). Bodies stream both ways unbuffered (SSE);
// when one side goes away the other side's connection is closed too.
import http from 'node:http';

const target = new URL(process.argv[2] ?? process.env.TARGET_URL);
const key = process.argv[3] ?? process.env.MCP_KEY;
const wanted = Number(process.argv[4] ?? process.env.PORT ?? 0);
const HOP_BY_HOP = /^(connection|keep-alive|proxy-connection|transfer-encoding|te|trailer|upgrade)$/i;

// [name, value, name, value, ...] as received, without the headers that belong to one connection only.
const passOn = (raw, drop = HOP_BY_HOP) => raw.filter((_, i) => {
  const name = raw[i - (i % 2)];
  return !HOP_BY_HOP.test(name) && !drop.test(name);
});

const server = http.createServer((request, response) => {
  const headers = passOn(request.rawHeaders, /^authorization$/i);
  headers.push('Authorization', `Bearer ${key}`);
  if (request.headers['transfer-encoding']) headers.push('Transfer-Encoding', 'chunked');
  const upstream = http.request({
    host: target.hostname.replace(/[[\]]/g, ''), port: target.port || 80,
    method: request.method, path: request.url, headers, setHost: false, agent: false,
  });
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode, answer.statusMessage, passOn(answer.rawHeaders));
    response.flushHeaders();                     // an SSE stream may stay silent for long
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  });
  upstream.on('error', (error) => response.headersSent ? response.destroy() : response.writeHead(502).end(`proxy: ${error.message}`));
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
});
server.requestTimeout = 0;
server.listen(wanted, '127.0.0.1', () => {
  const { port } = server.address();
  console.log(JSON.stringify({ port, url: `http://127.0.0.1:${port}${target.pathname}`, target: target.href }));
});
