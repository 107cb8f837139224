// A hub that answers as a test says, and notes what it was asked.
import { once } from "node:events";
import { createServer } from "node:http";

/** `answer` gets each request with its number, and writes the response; `null` breaks the connection. */
export async function fakeHub(test, answer) {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { method, url: path, headers } = request;
    asked.push({ method, path, headers, body });
    const reply = await answer({ method, path, headers, body, number: asked.length, response });
    if (reply === null) return request.socket.destroy();
    if (reply === undefined) return;
    const { status = 200, json = {}, text = JSON.stringify(json), ...more } = reply;
    response.writeHead(status, { "content-type": "application/json", ...more.headers }).end(text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, asked, server };
}

export const refusal = (status, code, headers = {}) => ({ status, json: { error: "no", code }, headers });
