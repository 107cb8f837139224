"""A client from the OpenAPI document alone, written by openapi-python-client. A task goes there and back."""

import os

from tandem_client import AuthenticatedClient
from tandem_client.api.events import events_read
from tandem_client.api.messages import messages_read, messages_send
from tandem_client.api.tasks import tasks_change, tasks_create, tasks_reply, tasks_view
from tandem_client.models import CreateTask, ErrorBody, PatchTask, ReplyTask, SendMessage, TaskCreatedEvent, TaskView


def client(key: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ["URL"], token=key)


def is_task(answer: object) -> TaskView:
    assert isinstance(answer, TaskView), answer
    return answer


ada, bob = client(os.environ["ADA_KEY"]), client(os.environ["BOB_KEY"])
new = CreateTask(target_agent_id=os.environ["BOB"], title="Add", description="2 + 2", priority="high")
task = is_task(tasks_create.sync(client=ada, body=new))
page = events_read.sync(client=bob, after=0)
assert page is not None and not isinstance(page, ErrorBody)
created = [event for event in page.events if isinstance(event, TaskCreatedEvent)]
assert [(event.task_id, event.data.attempt) for event in created] == [(task.id, 1)], page

is_task(tasks_change.sync(task.id, client=bob, body=PatchTask(status="working")))
messages_send.sync(task.id, client=bob, body=SendMessage(content="In base ten?"))
read = messages_read.sync(task.id, client=ada)
assert read is not None and not isinstance(read, ErrorBody) and read.messages[0].content == "In base ten?"
refused = tasks_change.sync(task.id, client=bob, body=PatchTask(status="draft"))
assert isinstance(refused, ErrorBody) and refused.code == "invalid_transition" and refused.next_statuses, refused
tasks_reply.sync(task.id, client=bob, body=ReplyTask(content="4", outcome="completed"))
done = is_task(tasks_view.sync(task.id, client=ada))
print(f"{done.status}: {done.result}")


def misspelt() -> bool:
    """What must not type-check: without an error, its comment would be unused, and mypy refuses that."""
    CreateTask(target_agent_id="a", title="t", priority="hgih")  # type: ignore[arg-type]
    PatchTask(status="workin")  # type: ignore[arg-type]
    ReplyTask(content="4", outcome="complete")  # type: ignore[arg-type]
    if done.status == "canceled":  # type: ignore[comparison-overlap]
        return True
    return isinstance(refused, ErrorBody) and refused.code == "not_conected"  # type: ignore[comparison-overlap]
