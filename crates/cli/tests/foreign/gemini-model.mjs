// Stands in for the model behind Gemini CLI (the Gemini API). It obeys: told about a task of Tandem, it reads the task
// and replies. Usage: node gemini-model.mjs PORT
import http from 'node:http';

const TASK = /task_(?:sealed_[0-9a-f]{16}|06[0-9a-z]{18,})/g;

/** The next step: a tool call, or the last words. */
function next(request) {
  const contents = request.contents ?? [];
  const names = (request.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []).map((tool) => tool.name);
  const offered = (name) => names.find((other) => other.includes('tandem') && other.endsWith(name));
  const calls = contents.flatMap((content) => content.parts ?? []).filter((part) => part.functionCall);
  const has = (name) => calls.some((part) => part.functionCall.name.endsWith(name));
  const tasks = JSON.stringify(contents).match(TASK);
  if (!tasks || !offered('get_task')) return { text: 'Nothing to do.' };
  const taskId = tasks.at(-1);
  if (!has('get_task')) return { functionCall: { name: offered('get_task'), args: { taskId } } };
  if (!has('send_reply'))
    return { functionCall: { name: offered('send_reply'), args: { taskId, content: 'The answer is 42.' } } };
  return { text: 'Done.' };
}

http
  .createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const [, method] = request.url.split('?')[0].split(':');
    if (method === 'countTokens') return response.end(JSON.stringify({ totalTokens: 10 }));
    if (!['generateContent', 'streamGenerateContent'].includes(method)) {
      response.writeHead(404, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ error: { code: 404, message: 'not here', status: 'NOT_FOUND' } }));
    }
    const step = next(JSON.parse(Buffer.concat(pieces)));
    const answer = {
      candidates: [{ content: { role: 'model', parts: [step] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    };
    const isStream = method === 'streamGenerateContent';
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    response.end(isStream ? `data: ${JSON.stringify(answer)}\n\n` : JSON.stringify(answer));
  })
  .listen(Number(process.argv[2]), '127.0.0.1');
