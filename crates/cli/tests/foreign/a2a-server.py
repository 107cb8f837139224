"""An agent built with the official Python SDK of A2A. It goes by the first word of a message, and takes calls with a key only."""

import asyncio
import os

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    DatabaseTaskStore,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    Message,
    Part,
    Role,
    SecurityRequirement,
    SecurityScheme,
    StringList,
    Task,
    TaskState,
    TaskStatus,
)
import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse

PORT, BINDING, KEY = int(os.environ["PORT"]), os.environ["BINDING"], os.environ["KEY"]
BELLS, STORE = os.environ.get("BELLS", ""), os.environ.get("STORE")
BASE = f"http://127.0.0.1:{PORT}"


def text_of(message):
    return "\n".join(part.text for part in message.parts if part.text)


class Agent(AgentExecutor):
    async def execute(self, context, queue):
        words = text_of(context.message)
        if words.startswith("message"):
            part = Part(text="just words")
            await queue.enqueue_event(Message(message_id="m", role=Role.ROLE_AGENT, parts=[part]))
            return
        if context.current_task is None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=context.task_id, context_id=context.context_id, status=status)
            task.history.append(context.message)
            await queue.enqueue_event(task)
        updater = TaskUpdater(queue, context.task_id, context.context_id)
        say = lambda text: updater.new_agent_message([Part(text=text)])
        await updater.start_work()
        if words.startswith("ask"):
            await updater.requires_input(say("What exactly?"))
        elif words.startswith("wait"):
            await asyncio.sleep(float(os.environ.get("PAUSE", "3600")))
            await updater.complete(say("waited"))
        elif words.startswith("fail"):
            await updater.failed(say("I cannot"))
        elif words.startswith("file"):
            names = [part.filename for part in context.message.parts if part.raw]
            part = Part(raw=b"a,b", media_type="text/csv", filename="made.csv")
            await updater.add_artifact([part], artifact_id="made")
            await updater.complete(say(f"got {names}"))
        else:
            await updater.add_artifact([Part(text=f"done: {words}")], artifact_id="answer")
            await updater.complete()

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


class NeedsKey:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        is_card = scope.get("path", "").startswith("/.well-known/")
        sent = dict(scope.get("headers", [])).get(b"authorization", b"").decode()
        if scope["type"] == "http" and not is_card and sent != f"Bearer {KEY}":
            await JSONResponse({"error": "no key"}, status_code=401)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


async def store():
    if not STORE:
        return InMemoryTaskStore()
    from sqlalchemy.ext.asyncio import create_async_engine

    kept = DatabaseTaskStore(create_async_engine(f"sqlite+aiosqlite:///{STORE}"))
    await kept.initialize()
    return kept


async def main():
    card = AgentCard(
        name="Python agent",
        description="Built with the official SDK",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=BASE, protocol_binding=BINDING, protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming="stream" in BELLS, push_notifications="push" in BELLS),
        security_schemes={
            "key": SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="Bearer"))
        },
        security_requirements=[SecurityRequirement(schemes={"key": StringList()})],
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="all", name="All", description="Everything", tags=["all"])],
    )
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Agent(),
        task_store=await store(),
        agent_card=card,
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx_client=httpx.AsyncClient(), config_store=configs),
    )
    routes = create_agent_card_routes(card)
    routes += (
        create_jsonrpc_routes(handler, "/") if BINDING == "JSONRPC" else create_rest_routes(handler)
    )
    app = Starlette(routes=routes, middleware=[Middleware(NeedsKey)])
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=PORT, log_level="warning"))
    await server.serve()


asyncio.run(main())
