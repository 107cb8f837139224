// Stands in for the model behind Codex (the Responses API of OpenAI). It obeys: asked for the inbox, it looks for
// updates; told about a task of Tandem, it reads the task and replies. It prints its last words of each turn.
// Usage: node codex-model.mjs PORT
import http from 'node:http';

const TASK = /task_(?:sealed_[0-9a-f]{16}|06[0-9a-z]{18,})/g;
/** The words with which the bridge wakes Codex. */
const WAKE = /Tandem: \d+ new task/;
/** What makes it look for updates. */
const ASKED = /my Tandem inbox|Tandem: \d+ new task/;

/** A tool of Tandem as Codex offers it: in a namespace, or with the namespace in its name. */
function offered(tools, name) {
  for (const tool of tools ?? []) {
    if (tool.type === 'namespace' && /tandem/.test(tool.name))
      for (const inner of tool.tools ?? []) if (inner.name === name) return { namespace: tool.name, name };
    if (tool.type === 'function' && /tandem/.test(tool.name) && tool.name.endsWith(name)) return { name: tool.name };
  }
  return undefined;
}

/** The next step: a tool call, or the last words. */
function next(request) {
  const input = request.input ?? [];
  const asked = input.findLastIndex((item) => item.type === 'message' && item.role === 'user'
    && ASKED.test(JSON.stringify(item.content)));
  if (asked < 0) return { text: 'Nothing to do.' };
  const turn = input.slice(asked);
  const calls = turn.filter((item) => item.type === 'function_call').map((item) => item.name);
  const has = (name) => calls.some((call) => call.endsWith(name));
  const call = (name, fields) => {
    const tool = offered(request.tools, name);
    return tool ? { tool, fields } : { text: `There is no tool ${name}.` };
  };
  if (!has('check_updates')) return call('check_updates', {});
  const tasks = WAKE.test(JSON.stringify(turn[0])) && JSON.stringify(turn).match(TASK);
  if (!tasks) return { text: 'The inbox is empty.' };
  const taskId = tasks.at(-1);
  if (!has('get_task')) return call('get_task', { taskId });
  if (!has('send_reply')) return call('send_reply', { taskId, content: 'The answer is 42.' });
  return { text: 'Done.' };
}

/** The events of a streamed answer. */
function* events(id, step) {
  yield { type: 'response.created', response: { id: `resp_${id}` } };
  const item = step.tool
    ? { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, ...step.tool, arguments: JSON.stringify(step.fields) }
    : { type: 'message', id: `msg_${id}`, role: 'assistant', content: [{ type: 'output_text', text: step.text }] };
  yield { type: 'response.output_item.done', output_index: 0, item };
  const usage = { input_tokens: 10, input_tokens_details: null, output_tokens: 5, output_tokens_details: null, total_tokens: 15 };
  yield { type: 'response.completed', response: { id: `resp_${id}`, usage } };
}

let answers = 0;
http
  .createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    if (request.method !== 'POST' || !request.url.endsWith('/responses')) {
      response.writeHead(404, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ error: { message: 'not here' } }));
    }
    const step = next(JSON.parse(Buffer.concat(pieces)));
    if (step.text) console.log(step.text);
    answers += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events(answers, step))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  })
  .listen(Number(process.argv[2]), '127.0.0.1');
