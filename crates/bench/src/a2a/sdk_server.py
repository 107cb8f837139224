"""A server of the official Python SDK of A2A, whose agent answers at once. The only argument: a file for SQLite, or "memory"."""

import asyncio
import socket
import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, Part, Task, TaskState, TaskStatus
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route


class Answers(AgentExecutor):
    async def execute(self, context, queue):
        status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
        await queue.enqueue_event(task)
        updater = TaskUpdater(queue, context.task_id, context.context_id)
        await updater.start_work()
        await updater.add_artifact([Part(text="Done")], artifact_id="result")
        await updater.complete()

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


async def store_in(where):
    if where == "memory":
        return InMemoryTaskStore()
    from a2a.server.tasks import DatabaseTaskStore
    from sqlalchemy.ext.asyncio import create_async_engine

    store = DatabaseTaskStore(create_async_engine(f"sqlite+aiosqlite:///{where}"))
    await store.initialize()
    return store


async def main():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # Who connects before the server serves waits.
    listener.listen(2048)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    card = AgentCard(
        name="bench",
        description="Answers at once",
        version="1",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
    )
    handler = DefaultRequestHandler(agent_executor=Answers(), task_store=await store_in(sys.argv[1]), agent_card=card)
    health = Route("/health", lambda _: PlainTextResponse("ok"))
    app = Starlette(routes=[health, *create_jsonrpc_routes(handler, "/a2a")])
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    print(f"Listening {url}", flush=True)
    await server.serve(sockets=[listener])


asyncio.run(main())
