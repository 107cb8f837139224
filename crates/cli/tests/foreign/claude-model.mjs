// Stands in for the model behind Claude Code (the Messages API of Anthropic). It obeys: told about tasks of Tandem, it
// reads each and replies. Usage: node claude-model.mjs PORT
import http from 'node:http';

const TASK = /task_(?:sealed_[0-9a-f]{16}|06[0-9a-z]{18,})/g;

/** The next step: a tool call, or the last words. */
function next(request) {
  const offered = (request.tools ?? []).map((tool) => tool.name);
  const said = JSON.stringify(request.messages);
  const tasks = said.match(TASK);
  const called = request.messages.flatMap((message) =>
    Array.isArray(message.content) ? message.content.filter((block) => block.type === 'tool_use') : []);
  if (!tasks || !offered.includes('mcp__tandem__get_task')) return { text: 'Nothing to do.' };
  for (const taskId of new Set(tasks)) {
    const has = (name) => called.some((block) => block.name === name && block.input.taskId === taskId);
    if (!has('mcp__tandem__get_task')) return { tool: 'mcp__tandem__get_task', input: { taskId } };
    if (!has('mcp__tandem__send_reply'))
      return { tool: 'mcp__tandem__send_reply', input: { taskId, content: 'The answer is 42.' } };
  }
  return { text: 'Done.' };
}

/** The events of a streamed answer. */
function* events(id, model, step) {
  const usage = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [], stop_reason: null,
    stop_sequence: null, usage };
  yield ['message_start', { message }];
  const block = step.tool ? { type: 'tool_use', id: `toolu_${id}`, name: step.tool, input: {} } : { type: 'text', text: '' };
  yield ['content_block_start', { index: 0, content_block: block }];
  const delta = step.tool
    ? { type: 'input_json_delta', partial_json: JSON.stringify(step.input) }
    : { type: 'text_delta', text: step.text };
  yield ['content_block_delta', { index: 0, delta }];
  yield ['content_block_stop', { index: 0 }];
  const end = { stop_reason: step.tool ? 'tool_use' : 'end_turn', stop_sequence: null };
  yield ['message_delta', { delta: end, usage: { output_tokens: 5 } }];
  yield ['message_stop', {}];
}

let answers = 0;
http
  .createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const path = request.url.split('?')[0];
    if (request.method === 'HEAD') return response.end();
    if (path !== '/v1/messages') {
      response.writeHead(404, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ type: 'error', error: { type: 'not_found_error', message: 'not here' } }));
    }
    const asked = JSON.parse(Buffer.concat(pieces));
    const step = next(asked);
    answers += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [type, fields] of events(answers, asked.model, step))
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    response.end();
  })
  .listen(Number(process.argv[2]), '127.0.0.1');
