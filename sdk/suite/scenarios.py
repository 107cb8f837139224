"""What every package must do, written once. A scenario gets the hub and two agents; `ada` sends, `bob` works."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivers import Driver, called

if TYPE_CHECKING:
    from run import Suite

BINARY = {
    "name": "Büro ✓.bin",
    "mime": "application/octet-stream",
    "base64": base64.b64encode(bytes(range(256)) * 300).decode(),
}
TEXT = {"name": "notes ü.txt", "mime": "text/plain", "base64": base64.b64encode("grün ✓\n".encode()).decode()}


async def until(what: str, is_so: Callable[[], Awaitable[Any]], seconds: float = 30) -> Any:
    """Waits for a state."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not (found := await is_so()):
        assert asyncio.get_running_loop().time() < deadline, f"it never came to this: {what}"
        await asyncio.sleep(0.05)
    return found


async def life(suite: Suite, ada: Driver, bob: Driver) -> None:
    """The whole life of a task: sent, taken, asked, answered, delivered; reviewed, reopened, cancelled, refused."""
    await bob.do("follow", stream="life")
    assert (await bob.do("read", stream="life", count=0, timeout=5))["events"] == []
    await suite.connected(bob, "life")
    task = (await ada.do("send", to=bob.id, title="Review the API", description="All of it"))["taskId"]
    got = await bob.do("read", stream="life", count=1, timeout=20)
    assert [(one["type"], one["taskId"]) for one in got["events"]] == [("task.created", task)], got
    view = await bob.do("view", task=task)
    assert (view["status"], view["title"], view["description"], view["trust"]) == (
        "submitted", "Review the API", "All of it", "plain",
    )  # fmt: skip
    await bob.do("take", task=task)
    await bob.call("tasks_heartbeat", task, body={"progress": 40, "note": "reading"})
    assert (await ada.do("view", task=task))["progress"] == 40
    await bob.do("say", task=task, text="Staging or production?")
    await bob.do("status", task=task, status="input-required")
    await ada.fails("input_required", None, "result", task=task, timeout=20)
    await ada.do("say", task=task, text="Production")
    assert [one["text"] for one in await bob.do("messages", task=task)] == ["Staging or production?", "Production"]
    await bob.do("status", task=task, status="working")
    waiting = ada.begin("result", task=task, timeout=30)
    await bob.do("reply", task=task, text="Two breaking changes")
    assert await waiting == {"status": "completed", "text": "Two breaking changes"}
    await bob.fails("refused", "task_terminal", "say", task=task, text="too late")
    await bob.do("unfollow", stream="life")

    reviewed = (await ada.do("send", to=bob.id, title="Reviewed", options={"requiresReview": True}))["taskId"]
    await bob.do("take", task=reviewed)
    await bob.fails("refused", "review_required", "status", task=reviewed, status="completed")
    assert (await bob.do("reply", task=reviewed, text="first try"))["status"] == "input-required"
    assert await ada.do("result", task=reviewed, timeout=20) == {"status": "input-required", "text": "first try"}
    assert (await ada.do("status", task=reviewed, status="completed"))["status"] == "completed"

    given_up = (await ada.do("send", to=bob.id, title="Not this one"))["taskId"]
    await ada.call("tasks_cancel", given_up, body={"reason": "no longer needed"})
    await ada.fails("task_failed", "cancelled", "result", task=given_up, timeout=20)
    declined = (await ada.do("send", to=bob.id, title="Nor this one"))["taskId"]
    await bob.do("status", task=declined, status="rejected", reason="not my trade")
    await ada.fails("task_failed", "rejected", "result", task=declined, timeout=20)
    await ada.fails("refused", "not_connected", "send", to="agent_nobody", title="To nobody")
    await bob.fails("refused", "not_found", "view", task="task_of_nobody")


async def files(suite: Suite, ada: Driver, bob: Driver) -> None:
    """Files arrive byte for byte, under their names, plain and encrypted, in both directions."""
    for encrypt, sent in ((False, [TEXT]), (True, [TEXT, BINARY])):
        task = (await ada.do("send", to=bob.id, title="With files", files=sent, encrypt=encrypt))["taskId"]
        trust = "verified" if encrypt else "plain"
        view = await bob.do("view", task=task)
        assert (view["status"], view["trust"], view["title"]) == ("submitted", trust, "With files"), view
        wanted = [{**one, "trust": trust} for one in sent]
        assert await bob.do("files", task=task) == wanted
        await bob.do("upload", task=task, file=TEXT)
        assert await ada.do("files", task=task) == [*wanted, {**TEXT, "trust": trust}]
    await ada.fails("refused", "unsupported_media_type", "send", to=bob.id, title="Refused", files=[BINARY])


async def encryption(suite: Suite, ada: Driver, bob: Driver) -> None:
    """An encrypted task from end to end; the hub sees nothing of it, and both sides pin the same keys."""
    title, text = "Geheim ✓", 'zwei "Zeilen"\nmit \\ und ü'
    task = (await ada.do("send", to=bob.id, title=title, description=text, encrypt=True))["taskId"]
    raw = await bob.call("tasks_view", task)
    assert (raw["encrypted"], raw["title"]) == (True, "Encrypted Task") and text not in json.dumps(raw)
    view = await bob.do("view", task=task)
    assert (view["trust"], view["title"], view["description"]) == ("verified", title, text)
    assert (await ada.do("view", task=task))["title"] == title
    await bob.do("say", task=task, text="Frage?")
    await ada.do("say", task=task, text="Antwort: ü")
    for one in (ada, bob):
        messages = await one.do("messages", task=task)
        assert [(m["text"], m["trust"]) for m in messages] == [("Frage?", "verified"), ("Antwort: ü", "verified")]
        # What was read is recorded, and may be read again.
        assert await one.do("messages", task=task) == messages
    await bob.do("take", task=task)
    waiting = ada.begin("result", task=task, timeout=30)
    await bob.do("reply", task=task, text="Ergebnis ✓")
    assert (await waiting)["text"] == "Ergebnis ✓"
    for one, other in ((ada, bob), (bob, ada)):
        assert (await one.do("pin", agent=other.id))["fingerprint"] == suite.fingerprints[other.id]


async def distrust(suite: Suite, ada: Driver, bob: Driver) -> None:
    """A hub that lies: another key, a plain task in place of an encrypted one, and an old message as a new one."""
    task = (await ada.do("send", to=bob.id, title="Secret", encrypt=True))["taskId"]
    assert (await bob.do("view", task=task))["trust"] == "verified"
    await bob.do("say", task=task, text="once")

    def as_plain(view: Any) -> Any:
        view = view[-1] if isinstance(view, list) else view
        return {**view, "encrypted": False, "description": "forged", "descriptionKeys": None, "senderSignature": None}

    with suite.changing(rf"GET (/api/v1)?/tasks/{task} ", as_plain):
        assert (await ada.do("view", task=task))["trust"] == "unreadable"
        await ada.fails("untrusted", "presented_as_plain", "say", task=task, text="not in the clear")

    def repeated(messages: Any) -> Any:
        return [*messages, {**messages[0], "id": "msg_repeated"}]

    with suite.changing(rf"GET (/api/v1)?/tasks/{task}/messages", repeated):
        first, second = await ada.do("messages", task=task)
        assert (first["text"], first["trust"]) == ("once", "verified")
        assert (second["text"], second["trust"]) == ("", "unreadable")
    # It is recorded, also for other programs of the agent and in other languages.
    twin = await suite.twin(ada, bob.language)
    with suite.changing(rf"GET (/api/v1)?/tasks/{task}/messages", lambda messages: [{**messages[0], "id": "msg_later"}]):
        for one in (ada, twin):
            assert [(m["text"], m["trust"]) for m in await one.do("messages", task=task)] == [("", "unreadable")]
    await twin.end()

    def forged(messages: Any) -> Any:
        return [{**messages[0], "id": "msg_forged", "content": "forged", "contentType": "text"}]

    with suite.changing(rf"GET (/api/v1)?/tasks/{task}/messages", forged):
        assert [(m["text"], m["trust"]) for m in await ada.do("messages", task=task)] == [("", "unreadable")]

    # The pin says another key than the hub presents: as if the hub had changed it.
    other = next(one for one in suite.agents if one not in (ada, bob))
    pins = ada.home / "config/tandem/agents/agent.pins"
    before = json.loads(pins.read_text())
    await ada.do("send", to=other.id, title="To pin it", encrypt=True)
    known = json.loads(pins.read_text())
    key = {name: known["agents"][other.id][name] for name in ("fingerprint", "publicKey")}
    suite.replace(pins, {**known, "agents": {**known["agents"], bob.id: {**before["agents"][bob.id], **key}}})
    await ada.fails("untrusted", "key_changed", "send", to=bob.id, title="Not to it", encrypt=True)
    assert (await ada.do("messages", task=task))[0]["trust"] == "unreadable"
    await ada.do("accept", agent=bob.id)
    await ada.do("send", to=bob.id, title="To it", encrypt=True)
    assert (await ada.do("messages", task=task))[0]["trust"] == "verified"


async def restarts(suite: Suite, ada: Driver, bob: Driver) -> None:
    """The hub is killed and comes back: calls wait for it, streams go on, each event comes once."""
    for transport in ("ws", "sse", "poll"):
        await bob.do("follow", stream=transport, transport=transport)
        await suite.connected(bob, transport)
    tasks = [(await ada.do("send", to=bob.id, title="Before"))["taskId"]]
    await suite.kill()
    sending = ada.begin("send", to=bob.id, title="While it is away")
    waiting = ada.begin("result", task=tasks[0], timeout=60)
    await suite.start()
    tasks.append((await sending)["taskId"])
    await bob.do("reply", task=tasks[0], text="over the restart")
    assert (await waiting)["text"] == "over the restart"
    for transport in ("ws", "sse", "poll"):
        got = await bob.do("read", stream=transport, count=2, timeout=40)
        assert [one["taskId"] for one in got["events"] if one["type"] == "task.created"] == tasks, (transport, got)
        await bob.do("unfollow", stream=transport)


async def restored(suite: Suite) -> None:
    """The hub is restored from an older backup: streams notice it and miss nothing that happens afterwards."""
    pairs = [(suite.agents[at - 1], bob) for at, bob in enumerate(suite.agents)]
    ends = [(await bob.call("events_read", after=2**53))["cursor"] for _, bob in pairs]
    for (_, bob), end in zip(pairs, ends, strict=True):
        await bob.call("events_acknowledge", body={"cursor": end})
    for (_, bob), end in zip(pairs, ends, strict=True):
        await bob.do("follow", stream="stored", after=end)
        await bob.do("follow", stream="live")
        await suite.connected(bob, "live")
    kept = [(await ada.do("send", to=bob.id, title="In the backup"))["taskId"] for ada, bob in pairs]
    await given(pairs, kept)
    await suite.backup()
    lost = [(await ada.do("send", to=bob.id, title="After the backup"))["taskId"] for ada, bob in pairs]
    await given(pairs, lost)
    await suite.restore()
    for (ada, bob), before, after in zip(pairs, kept, lost, strict=True):
        await ada.fails("refused", "not_found", "view", task=after)
        assert (await bob.do("view", task=before))["title"] == "In the backup"
    again = [(await ada.do("send", to=bob.id, title="After the restore"))["taskId"] for ada, bob in pairs]
    # A stream with a cursor goes on after the acknowledged event, and may give again what came before the backup.
    await given(pairs, kept, "rewound", ["stored"])
    await given(pairs, again, "rewound")


async def given(
    pairs: list[tuple[Driver, Driver]], tasks: list[str], notice: str = "connected", streams: Sequence[str] = ("stored", "live")
) -> None:
    """Each stream gives the creation of its task, and nothing else."""
    for (_, bob), task in zip(pairs, tasks, strict=True):
        for stream in streams:
            got = await bob.do("read", stream=stream, count=1, timeout=40)
            assert [one["taskId"] for one in got["events"]] == [task], (bob.language, stream, got)
            assert notice in got["notices"], (bob.language, stream, got)


async def rotated(suite: Suite, ada: Driver, bob: Driver) -> None:
    """Another program of the same agent, in the other language, replaces the API key; the answer to that is lost."""
    twin = await suite.twin(ada, bob.language)
    await ada.do("follow", stream="over the rotation")
    await suite.connected(ada, "over the rotation")
    before = (await ada.do("key"))["key"]
    suite.relay.lose_answer(r"POST (/api/v1)?/agents/me/rotate-key")
    after = (await twin.do("rotate"))["key"]
    assert after != before and not suite.relay.lost
    task = (await ada.do("send", to=bob.id, title="With the new key"))["taskId"]
    assert (await ada.do("key"))["key"] == after
    await bob.do("take", task=task)
    got = await ada.do("read", stream="over the rotation", count=1, timeout=20)
    assert [(one["type"], one["taskId"]) for one in got["events"]] == [("task.updated", task)], got
    await ada.do("unfollow", stream="over the rotation")
    await twin.end()


async def refused(suite: Suite, ada: Driver, bob: Driver) -> None:
    """429 and 503 are waited out, for as long as the hub says; a PATCH is not repeated after a 503."""
    for status, code in ((429, "rate_limited"), (503, "unavailable")):
        times = 2 if status == 429 else 1
        suite.relay.refuse(r"POST (/api/v1)?/tasks ", status, code, times)
        begun = asyncio.get_running_loop().time()
        task = (await ada.do("send", to=bob.id, title=f"After {status}"))["taskId"]
        assert asyncio.get_running_loop().time() - begun >= times, "Retry-After was not waited for"
        assert not suite.relay.refused
        suite.relay.refuse(rf"GET (/api/v1)?/tasks/{task}", status, code, times=1, seconds=0)
        assert (await ada.do("view", task=task))["title"] == f"After {status}"
    suite.relay.refuse(r"PATCH ", 503, "unavailable", times=1)
    await ada.fails("refused", "unavailable", "call", **called("agents_change", [], {}, {"description": "x"}))
    suite.relay.refuse(r"GET (/api/v1)?/inbox", 429, "rate_limited", times=1, seconds=600)
    await ada.fails("refused", "rate_limited", "call", **called("updates_list", [], {}, None))
    assert not suite.relay.refused


async def lost_answers(suite: Suite, ada: Driver, bob: Driver) -> None:
    """The answer to every writing call is lost once. A POST takes effect once and is answered; of a PATCH or DELETE the caller
    hears that it may have been done, and it was."""
    network = await lost_post(suite, ada, "networks_create", body={"name": "Crew"})
    invite = await lost_post(suite, ada, "networks_invite", network["id"])
    assert (await lost_post(suite, bob, "networks_join", body={"code": invite["code"]}))["role"] == "member"
    await lost_post(suite, ada, "networks_broadcast", network["id"], body={"content": "hello"})
    assert len(await ada.call("networks_messages", network["id"])) == 1
    await lost_post(suite, bob, "networks_leave", network["id"])
    await lost_other(suite, ada, "networks_delete", network["id"])
    assert network["id"] not in [one["id"] for one in await ada.call("networks_list")]

    task = (await lost_post(suite, ada, "tasks_create", body={"targetAgentId": bob.id, "title": "Once"}))["id"]
    created = await ada.call("tasks_list", q="Once", status="submitted")
    assert [one["id"] for one in created if one["targetAgentId"] == bob.id] == [task]
    await lost_other(suite, bob, "tasks_change", task, body={"status": "working"})
    assert (await bob.do("view", task=task))["status"] == "working"
    await lost_post(suite, bob, "tasks_heartbeat", task, body={"progress": 7})
    message = (await lost_post(suite, ada, "messages_send", task, body={"content": "one"}))["id"]
    await lost_post(suite, ada, "messages_send_to_agent", body={"agentId": bob.id, "content": "two"})
    file = {"filename": "a.txt", "mimeType": "text/plain", "base64Content": "YQ=="}
    uploaded = await lost_post(suite, ada, "files_upload_json", task, body=file)
    assert [one["contentType"] for one in await bob.call("messages_list", task)] == ["text", "text", "file"]
    await lost_post(suite, bob, "messages_read", task)
    await lost_post(suite, bob, "messages_acknowledge", task)
    await lost_other(suite, ada, "messages_delete", task, message)
    await lost_other(suite, ada, "files_delete", uploaded["id"])
    suite.relay.lose_answer(rf"POST (/api/v1)?/tasks/{task}/files")
    await ada.do("upload", task=task, file=TEXT)
    assert len(await bob.do("files", task=task)) == 1 and not suite.relay.lost
    await lost_post(suite, bob, "tasks_reply", task, body={"content": "done"})
    replies = [one for one in await ada.call("messages_list", task) if one["kind"] == "reply"]
    assert len(replies) == 1
    await lost_other(suite, ada, "tasks_delete", task)
    await ada.fails("refused", "not_found", "view", task=task)

    second = (await ada.do("send", to=bob.id, title="Twice"))["taskId"]
    assert (await lost_post(suite, ada, "tasks_cancel", second, body={}))["status"] == "cancelled"
    assert (await lost_post(suite, ada, "tasks_retry", second, body={}))["attempt"] == 2
    other = next(one for one in suite.agents if one not in (ada, bob))
    moved = await lost_post(suite, ada, "tasks_reassign", second, body={"targetAgentId": other.id})
    assert (moved["targetAgentId"], moved["attempt"]) == (other.id, 3)
    await lost_post(suite, bob, "events_acknowledge", body={"cursor": 1})
    await lost_other(suite, ada, "agents_change", body={"description": "changed"})
    assert (await ada.call("agents_profile"))["description"] == "changed"
    blocked = await lost_post(suite, ada, "blocks_block", body={"agentId": other.id})
    assert blocked["blocked"]
    await lost_other(suite, ada, "blocks_unblock", other.id)
    code = (await lost_post(suite, ada, "connections_generate_code"))["code"]
    assert (await lost_post(suite, other, "connections_redeem_code", body={"code": code}))["agentId"] == ada.id


async def lost_post(suite: Suite, who: Driver, operation: str, *path: str, body: Any = None) -> Any:
    suite.relay.lose_answer(r"^POST ")
    answer = await who.call(operation, *path, body=body)
    assert not suite.relay.lost, f"{operation} was never sent"
    return answer


async def lost_other(suite: Suite, who: Driver, operation: str, *path: str, body: Any = None) -> None:
    suite.relay.lose_answer(r"^(PATCH|DELETE) ")
    await who.fails("lost", None, "call", **called(operation, list(path), {}, body))
    assert not suite.relay.lost, f"{operation} was never sent"


async def registered(suite: Suite, ada: Driver, bob: Driver) -> None:
    """The answer to a registration is lost: there is one agent, and a profile that the other language can use."""
    suite.relay.lose_answer(r"^POST (/api/v1)?/agents ")
    fresh = await suite.fresh(ada.language)
    made = await fresh.do("register", url=suite.relay.url, name="Fresh", profile="agent", encrypted=False)
    assert not suite.relay.lost
    profile = fresh.home / "config/tandem/agents/agent.toml"
    assert profile.stat().st_mode & 0o777 == 0o600 and not profile.with_suffix(".pending").exists()
    twin = await suite.twin(fresh, bob.language)
    assert (await twin.call("agents_profile"))["id"] == made["agentId"]
    # The command line reads it too.
    shown = await suite.tandem(fresh.home, "whoami", "--json")
    assert json.loads(shown)["agentId"] == made["agentId"]
    await asyncio.gather(twin.end(), fresh.end())


async def worker(suite: Suite, ada: Driver, bob: Driver) -> None:
    """A worker takes what it may, asks, sends files, fails in words, and stops after what it has begun."""
    await bob.do("work", worker="echo", script="echo", acceptFrom=[ada.id], concurrency=2)
    tasks = [(await ada.do("send", to=bob.id, title=f"No. {n}", encrypt=n == 0))["taskId"] for n in range(5)]
    for number, task in enumerate(tasks):
        assert await ada.do("result", task=task, timeout=30) == {"status": "completed", "text": f"done: No. {number}"}
    other = next(one for one in suite.agents if one not in (ada, bob))
    stranger = (await other.do("send", to=bob.id, title="Not accepted"))["taskId"]
    runs = (await bob.do("unwork", worker="echo"))["runs"]
    assert runs == dict.fromkeys(tasks, 1), runs
    assert (await other.do("view", task=stranger))["status"] == "submitted"
    await other.call("tasks_cancel", stranger, body={})

    await bob.do("work", worker="ask", script="ask", acceptFrom=["*"])
    task = (await ada.do("send", to=bob.id, title="Ask me", encrypt=True))["taskId"]
    await ada.fails("input_required", None, "result", task=task, timeout=30)
    await ada.do("say", task=task, text="the blue one")
    await until("answered", lambda: completed(ada, task))
    assert (await ada.do("view", task=task))["result"] == "you said the blue one"
    await bob.do("unwork", worker="ask")

    await bob.do("work", worker="file", script="file", acceptFrom=[ada.id])
    task = (await ada.do("send", to=bob.id, title="Files", files=[TEXT, BINARY], encrypt=True))["taskId"]
    assert (await ada.do("result", task=task, timeout=30))["text"] == "read"
    names = [one["name"] for one in await ada.do("files", task=task)]
    assert names == [TEXT["name"], BINARY["name"], "re-" + TEXT["name"], "re-" + BINARY["name"]], names
    await bob.do("unwork", worker="file")

    await bob.do("work", worker="fail", script="fail", acceptFrom=[ada.id])
    task = (await ada.do("send", to=bob.id, title="Fail"))["taskId"]
    await ada.fails("task_failed", "failed", "result", task=task, timeout=30)
    assert "as the script says" not in json.dumps(await ada.do("messages", task=task))
    await bob.do("unwork", worker="fail")


async def completed(who: Driver, task: str) -> bool:
    return bool((await who.do("view", task=task))["status"] == "completed")


async def working(who: Driver, task: str) -> bool:
    return bool((await who.do("view", task=task))["status"] == "working")


async def worker_outages(suite: Suite, ada: Driver, bob: Driver) -> None:
    """Hub and worker are killed at work, and answers are lost: a task has one result, and a stop finishes what was begun."""
    await bob.do("work", worker="hold", script="hold", acceptFrom=[ada.id], concurrency=2)
    tasks = [(await ada.do("send", to=bob.id, title=f"Held {n}"))["taskId"] for n in range(3)]

    async def two_taken() -> list[str]:
        taken = [task for task in tasks if await working(ada, task)]
        return taken if len(taken) == 2 else []

    taken = await until("two taken", two_taken)
    left = next(task for task in tasks if task not in taken)
    await suite.kill()
    await suite.start()
    stopping = bob.begin("unwork", worker="hold")
    suite.relay.lose_answer(r"^POST (/api/v1)?/tasks/[^/]+/reply")
    await bob.do("release", worker="hold")
    runs = (await asyncio.wait_for(stopping, 60))["runs"]
    assert runs == dict.fromkeys(taken, 1) and not suite.relay.lost, runs
    for task in taken:
        assert (await ada.do("view", task=task))["result"] == "released"
    assert (await ada.do("view", task=left))["status"] == "submitted"

    await bob.do("work", worker="again", script="hold", acceptFrom=[ada.id])
    await until("taken", lambda: working(ada, left))
    await bob.kill()
    await suite.again(bob)
    await bob.do("work", worker="after", script="echo", acceptFrom=[ada.id])
    title = (await ada.do("view", task=left))["title"]
    assert (await ada.do("result", task=left, timeout=30))["text"] == f"done: {title}"
    assert (await bob.do("unwork", worker="after"))["runs"] == {left: 1}
    for task in tasks:
        replies = [one for one in await ada.call("messages_list", task) if one["kind"] == "reply"]
        assert len(replies) == 1, (task, replies)

    # Killed while it waits for an answer, which comes before it is back: it does not ask again.
    await bob.do("work", worker="asking", script="ask", acceptFrom=[ada.id])
    task = (await ada.do("send", to=bob.id, title="Ask me", encrypt=True))["taskId"]
    await ada.fails("input_required", None, "result", task=task, timeout=30)
    await bob.kill()
    await ada.do("say", task=task, text="the red one")
    await suite.again(bob)
    await bob.do("work", worker="asking again", script="ask", acceptFrom=[ada.id])
    await until("answered", lambda: completed(ada, task))
    texts = [one["text"] for one in await ada.do("messages", task=task)]
    assert texts == ["Which one?", "the red one", "you said the red one"], texts
    await bob.do("unwork", worker="asking again")


async def webhooks(suite: Suite, ada: Driver, bob: Driver) -> None:
    """Signatures of the hub's own code are accepted, and forged ones are not."""
    if "webhook" not in ada.can:
        return
    vectors = json.loads((Path(__file__).parent.parent / "vectors/webhooks.json").read_text())
    for one in vectors:
        fields = {name: one[name] for name in ("headers", "body", "secret", "now")}
        assert (await ada.do("verify", **fields))["valid"] is one["valid"], one["why"]


PAIRED = [life, files, encryption, distrust, registered, rotated, refused, lost_answers, worker, worker_outages, restarts]
