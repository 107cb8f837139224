"""The official Python SDK of A2A as a client. Reads orders as lines of JSON, and writes what it gets as lines of JSON."""

import asyncio
import json
import os
import sys

import httpx
import jwt
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
)
from a2a.utils.signing import create_signature_verifier
from google.protobuf.json_format import MessageToDict, ParseDict

URL, KEY, BINDING = os.environ["URL"], os.environ["KEY"], os.environ["BINDING"]


def key_of(kid, jku):
    keys = httpx.get(jku).json()["keys"]
    return jwt.PyJWK(next(key for key in keys if key["kid"] == kid))


def write(line):
    print(json.dumps(line), flush=True)


async def perform(client, order):
    kind, params = order["do"], order.get("params", {})
    if kind in ("send", "stream"):
        async for event in client.send_message(ParseDict(params, SendMessageRequest())):
            write({"event": MessageToDict(event)})
        return {"end": True}
    if kind == "subscribe":
        async for event in client.subscribe(ParseDict(params, SubscribeToTaskRequest())):
            write({"event": MessageToDict(event)})
        return {"end": True}
    if kind == "get":
        return MessageToDict(await client.get_task(ParseDict(params, GetTaskRequest())))
    if kind == "list":
        return MessageToDict(await client.list_tasks(ParseDict(params, ListTasksRequest())))
    if kind == "push-set":
        wanted = ParseDict(params, TaskPushNotificationConfig())
        return MessageToDict(await client.create_task_push_notification_config(wanted))
    if kind == "push-get":
        wanted = ParseDict(params, GetTaskPushNotificationConfigRequest())
        return MessageToDict(await client.get_task_push_notification_config(wanted))
    if kind == "push-list":
        wanted = ParseDict(params, ListTaskPushNotificationConfigsRequest())
        return MessageToDict(await client.list_task_push_notification_configs(wanted))
    if kind == "push-delete":
        wanted = ParseDict(params, DeleteTaskPushNotificationConfigRequest())
        await client.delete_task_push_notification_config(wanted)
        return {"end": True}
    if kind == "push-read":
        return MessageToDict(ParseDict(params, StreamResponse()))
    if kind == "cancel":
        return MessageToDict(await client.cancel_task(ParseDict(params, CancelTaskRequest())))
    verifier = create_signature_verifier(key_of, ["ES256"])
    card = await client.get_extended_agent_card(GetExtendedAgentCardRequest(), signature_verifier=verifier)
    return MessageToDict(card)


async def main():
    headers = {"Authorization": f"Bearer {KEY}", "A2A-Version": "1.0"}
    async with httpx.AsyncClient(headers=headers) as http:
        verifier = create_signature_verifier(key_of, ["ES256"])
        card = await A2ACardResolver(http, URL).get_agent_card(signature_verifier=verifier)
        write({"card": card.name})
        config = {"httpx_client": http, "supported_protocol_bindings": [BINDING], "use_client_preference": True}
        plain = ClientFactory(ClientConfig(streaming=False, **config)).create(card)
        streaming = ClientFactory(ClientConfig(streaming=True, **config)).create(card)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            order = json.loads(line)
            client = streaming if order["do"] in ("stream", "subscribe") else plain
            try:
                write(await perform(client, order))
            except Exception as error:
                write({"error": type(error).__name__, "message": str(error)})


asyncio.run(main())
