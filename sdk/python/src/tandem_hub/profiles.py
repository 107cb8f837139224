"""The agents of this user, in the files of the command line: `agents/NAME.toml` and what stands beside it."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _files
from .errors import ProfileError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pyright: ignore[reportMissingImports]


@dataclass(frozen=True)
class Profile:
    """An agent of this user."""

    name: str
    hub: str
    agent_id: str
    agent_name: str
    api_key: str
    # A key that a rotation has sent to the hub without hearing back: either of the two is valid.
    next_api_key: str | None = None

    def __repr__(self) -> str:
        return f"Profile({self.name!r}, {self.agent_id!r})"


def place(variable: str, usual: str) -> Path:
    """A folder of this user."""
    given = os.environ.get(variable, "")
    if os.path.isabs(given):
        return Path(given) / "tandem"
    if not os.environ.get("HOME"):
        raise ProfileError(f"neither HOME nor {variable} is set, so there is no place for profiles")
    return Path(os.environ["HOME"]) / usual / "tandem"


def folder() -> Path:
    return place("XDG_CONFIG_HOME", ".config")


def state_folder(name: str) -> Path:
    """Where programs that run for a profile keep their files."""
    return place("XDG_STATE_HOME", ".local/state") / f"{checked(name)}.d"


def checked(name: str) -> str:
    if not 1 <= len(name) <= 64 or name.startswith(".") or not all(c.isalnum() or c in "-_.+" for c in name):
        raise ProfileError(f"{name!r} cannot be the name of a profile: use 1 to 64 letters, digits, -, _, . and +")
    return name


def file(name: str, suffix: str) -> Path:
    return folder() / "agents" / f"{checked(name)}.{suffix}"


def names() -> list[str]:
    return sorted(path.name[:-5] for path in (folder() / "agents").glob("*.toml"))


def load(name: str) -> Profile | None:
    text = _files.read_secret(file(name, "toml"))
    if text is None:
        return None
    try:
        fields = tomllib.loads(text)
        known = {key: str(fields[key]) for key in ("hub", "agent_id", "agent_name", "api_key")}
    except (tomllib.TOMLDecodeError, KeyError) as cause:
        # Not the text itself: it has the key.
        raise ProfileError(f"the profile {name} is damaged ({type(cause).__name__})") from None
    return Profile(name, **known, next_api_key=fields.get("next_api_key"))


def save(profile: Profile) -> None:
    """Writes a profile, replacing an older one, and ends a registration that was begun for it."""
    fields = {name: value for name, value in vars(profile).items() if name != "name" and value is not None}
    # DEL is the one character that JSON may leave as it is and TOML may not.
    quoted = {name: json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F") for name, value in fields.items()}
    _files.replace(file(profile.name, "toml"), "".join(f"{name} = {value}\n" for name, value in quoted.items()))
    file(profile.name, "pending").unlink(missing_ok=True)


def select(name: str | None = None) -> Profile:
    """The named profile, else the current one, else the only one."""
    current = folder() / "current"
    chosen = name or (current.read_text(encoding="utf-8").strip() if current.is_file() else "")
    if not chosen:
        found = names()
        if len(found) != 1:
            what = f"which agent? You have {', '.join(found)}" if found else "there is no agent on this machine yet"
            raise ProfileError(what)
        chosen = found[0]
    profile = load(chosen)
    if profile is None:
        raise ProfileError(f"there is no profile {chosen!r} on this machine")
    return profile


@contextmanager
def reserved(name: str) -> Iterator[None]:
    """Keeps other programs from making or changing a profile."""
    lock = _files.try_lock(file(name, "lock"))
    if lock is None:
        raise ProfileError(f"another program is just making or changing the profile {name!r}")
    try:
        yield
    finally:
        os.close(lock)


def pending(name: str) -> dict[str, Any] | None:
    """A registration that was begun and not finished."""
    text = _files.read_secret(file(name, "pending"))
    return None if text is None else json.loads(text)


def save_pending(name: str, fields: dict[str, Any]) -> None:
    _files.replace(file(name, "pending"), json.dumps(fields, ensure_ascii=False))


def key_source(profile: Profile) -> str | None:
    """The key that is valid now. After a rotation without an answer, the refused one is the old one."""
    stored = load(profile.name)
    if stored is None or stored.agent_id != profile.agent_id:
        return None
    return stored.next_api_key or stored.api_key


def profile_name(agent_name: str) -> str:
    """The profile name for an agent's name."""
    return re.sub(r"[^\w.+-]", "-", agent_name.strip()).lstrip(".")
