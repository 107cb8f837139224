"""A misspelt status, error code or event type is an error of type: without one, the comments that ignore it would be unused,
and the type checkers refuse those."""

from tandem_hub import ErrorCode, Event, Refused, Tandem, Task


async def misspelt(hub: Tandem, task: Task, event: Event, error: Refused) -> bool:
    await task.set_status("complete")  # type: ignore[arg-type]
    await hub.calls.tasks_list(status="input_required")  # type: ignore[arg-type]
    await hub.calls.tasks_change(task.id, {"state": "working"})  # type: ignore[typeddict-unknown-key]
    await task.reply("no", "expired")  # type: ignore[arg-type]
    code: ErrorCode = "not_conected"  # type: ignore[assignment]
    is_status = task.status == "canceled"  # type: ignore[comparison-overlap]
    return error.code == code or is_status or event.type == "task.create"  # type: ignore[comparison-overlap]
