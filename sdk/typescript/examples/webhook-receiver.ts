// A receiver of webhooks, with Hono. Set it with `tandem webhook set https://your.host/hook`, or try it on your own machine:
//
//   WEBHOOK_SECRET=$(tandem listen --print-secret) node webhook-receiver.ts
//   tandem listen --forward-to localhost:8080/hook
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { InvalidWebhook, verify } from "tandem-hub";

const { WEBHOOK_SECRET = "", PORT = "8080" } = process.env;
const REMEMBERED = 10_000;
const seen = new Set<string>();

const app = new Hono();
app.post("/hook", async (context) => {
  // The bytes as they came: a body that was parsed and written again has another signature.
  const body = new Uint8Array(await context.req.arrayBuffer());
  const { event, data } = await verify(context.req.raw.headers, body, WEBHOOK_SECRET);
  // The hub sends again what it has no answer for; the id stays the same.
  const id = context.req.header("webhook-id") ?? "";
  if (seen.has(id)) return context.json({ repeated: true });
  console.log(event, "taskId" in data ? data.taskId : "");
  seen.add(id);
  const [oldest] = seen;
  if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest);
  return context.json({ received: true });
});
app.onError((failure, context) => {
  const isForged = failure instanceof InvalidWebhook;
  return context.json({ error: failure.message }, isForged ? 401 : 500);
});

const server = serve({ fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`listening on ${port}`),
);
process.on("SIGTERM", () => server.close());
