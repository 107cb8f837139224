#!/usr/bin/env python3
"""Writes the generated parts of the Python package from the hub's OpenAPI document and from sdk/vectors.

The document is docs/openapi.json, which a test of the hub keeps equal to its types.

    python3 sdk/generate.py            writes the files
    python3 sdk/generate.py --check    says which are out of date, and exits 1 if one is
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/openapi.json"
VECTORS = ROOT / "sdk/vectors"
PYTHON = ROOT / "sdk/python/src/tandem_hub"
HEAD = '"""{}\n\nWritten by sdk/generate.py; do not edit."""\n'

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict[str, Any]", "null": "None"}
# Routes that are no calls: pages, streams, and protocols of their own.
LEFT_OUT = {"pages_reference", "mcp_listen", "mcp_send", "mcp_end", "push_stream", "push_socket", "admin_observe"}
BINARY = {"files_download", "agents_export", "hub_metrics"}


def read(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8")


def document() -> dict:
    return json.loads(read(DOCUMENT))


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()


def camel(code: str) -> str:
    return "".join(part.capitalize() for part in code.split("_"))


def named(ref: str) -> str:
    return ref.rsplit("/", 1)[1]


def reached(document: dict, schema: object, found: set) -> set:
    """The names of all schemas that a schema mentions, directly or through others."""
    if isinstance(schema, dict):
        if "$ref" in schema and named(schema["$ref"]) not in found:
            found.add(named(schema["$ref"]))
            reached(document, document["components"]["schemas"][named(schema["$ref"])], found)
        for value in schema.values():
            reached(document, value, found)
    elif isinstance(schema, list):
        for value in schema:
            reached(document, value, found)
    return found


class Types:
    """The wire types: one TypedDict per schema."""

    def __init__(self, document: dict) -> None:
        self.schemas = document["components"]["schemas"]
        operations = [one for methods in document["paths"].values() for one in methods.values()]
        bodies = [one.get("requestBody") for one in operations]
        self.requests = reached(document, bodies, set())

    def type_of(self, schema: dict) -> str:
        if "$ref" in schema:
            return named(schema["$ref"])
        if "oneOf" in schema:
            return " | ".join(self.type_of(one) for one in sorted(schema["oneOf"], key=lambda one: one.get("type") == "null"))
        if "enum" in schema or "const" in schema:
            words = schema.get("enum") or [schema["const"]]
            return "Literal[" + ", ".join(repr(word) if word is True else json.dumps(word) for word in words) + "]"
        kind = schema.get("type", "object")
        if isinstance(kind, list):
            return f"{self.type_of({**schema, 'type': next(one for one in kind if one != 'null')})} | None"
        if kind == "array":
            return f"list[{self.type_of(schema.get('items', {'type': 'string'}))}]"
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"dict[str, {self.type_of(schema['additionalProperties'])}]"
        return SCALARS[kind]

    def fields(self, name: str, schema: dict) -> list:
        required = set(schema.get("required", []))
        lines = []
        for field, one in schema["properties"].items():
            shown = "bytes" if one.get("format") == "binary" else self.type_of(one)
            # In an answer a field without a value is null; only what an older hub does not know is left out.
            is_there = field in required or (name not in self.requests and shown.endswith("| None"))
            if name == "ErrorBody" and field not in required:
                is_there = False
            lines.append(f"    {field}: {shown if is_there else f'NotRequired[{shown}]'}")
        return lines

    def is_alias(self, name: str) -> bool:
        return "enum" in self.schemas[name] or "oneOf" in self.schemas[name]

    def class_of(self, name: str, schema: dict) -> str:
        if self.is_alias(name):
            return f"{name} = {self.type_of(schema)}"
        bases, own = ["TypedDict"], schema
        if "allOf" in schema:
            bases = [named(part["$ref"]) for part in schema["allOf"] if "$ref" in part]
            own = next(part for part in schema["allOf"] if "properties" in part)
        lines = [f"class {name}({', '.join(bases)}):"]
        if schema.get("description"):
            lines += [f'    """{" ".join(schema["description"].split())}"""', ""]
        return "\n".join(lines + self.fields(name, own))

    def text(self) -> str:
        done: list = []

        def add(name: str) -> None:
            if name not in done:
                schema = self.schemas[name]
                for part in schema.get("allOf", []) + schema.get("oneOf", []):
                    if "$ref" in part:
                        add(named(part["$ref"]))
                done.append(name)

        for name in self.schemas:
            if name != "UploadForm":
                add(name)
        enums = [name for name in done if "enum" in self.schemas[name]]
        parts = ["\n".join(self.class_of(name, self.schemas[name]) for name in enums)]
        parts += [self.class_of(name, self.schemas[name]) for name in done if name not in enums]
        head = HEAD.format("The JSON of requests and answers, as the hub's OpenAPI document describes it.")
        imports = "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING, Any, Literal, TypedDict\n\n"
        imports += "if TYPE_CHECKING:\n    from typing_extensions import NotRequired"
        return "\n\n".join([head + "\n" + imports, *parts]) + "\n"


class Calls:
    """A method for every route."""

    def __init__(self, document: dict, types: Types) -> None:
        self.document, self.types = document, types
        self.used: set = set()

    def answer(self, operation: dict) -> tuple:
        """The type of an answer, and the function that sends the call."""
        name = operation["operationId"]
        if name in BINARY:
            return "bytes", "content"
        success = next(one for status, one in operation["responses"].items() if status[0] == "2")
        schema = success.get("content", {}).get("application/json", {}).get("schema", {})
        if schema.get("type") == "array":
            return f"Page[{self.types.type_of(schema['items'])}]", "page"
        return self.types.type_of(schema), "json"

    def method(self, path: str, verb: str, operation: dict) -> str:
        name, parameters = operation["operationId"], operation.get("parameters", [])
        arguments, options, query = ["self"], [], []
        for one in parameters:
            word = snake(one["name"])
            kind = self.types.type_of(one["schema"])
            if one["in"] == "path":
                arguments.append(f"{word}: str")
                path = path.replace("{" + one["name"] + "}", "{quoted(" + word + ")}")
            elif one["in"] == "query":
                word = "with_agent" if word == "with" else word
                options.append(f"{word}: {kind.removesuffix(' | None')} | None = None")
                query.append(f'"{one["name"]}": {word}')
        passed = [f'"{verb.upper()}"', f'f"{path}"' if "{" in path else f'"{path}"']
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            body = named(content["application/json"]["schema"]["$ref"])
            self.used.add(body)
            is_needed = operation["requestBody"].get("required", False)
            arguments.append(f"body: {body}" if is_needed else f"body: {body} | None = None")
            passed.append("body=body")
        elif name == "files_upload":
            arguments += ["file: tuple[str, bytes, str]"]
            passed.append("file=file")
        if query:
            passed.append("query={" + ", ".join(query) + "}")
        if name == "events_read":
            passed.append("wait=wait or 0")
        if any(one["name"] == "Idempotency-Key" for one in parameters):
            options.append("idempotency_key: str | None = None")
            passed.append("idempotency_key=idempotency_key")
        if any(one["name"] == "If-Match" for one in parameters):
            options.append("if_match: str | None = None")
            passed.append("if_match=if_match")
        answer, how = self.answer(operation)
        self.used.update(re.findall(r"\b[A-Z]\w+", " ".join([answer, *options])))
        if options:
            arguments += ["*", *options]
        summary = operation["summary"].replace('"', "'")
        sent = f"await self._http.{how}({', '.join(passed)})"
        lines = [f"    async def {name}({', '.join(arguments)}) -> {answer}:", f'        """{summary}"""']
        return "\n".join(
            [*lines, f"        return {sent}" if how == "content" else f"        return cast({json.dumps(answer)}, {sent})"]
        )

    def text(self) -> str:
        methods = []
        for path, verbs in self.document["paths"].items():
            for verb, operation in verbs.items():
                if operation["operationId"] not in LEFT_OUT:
                    methods.append(self.method(path, verb, operation))
        names = sorted(self.used - {"Page", "Any", "Literal", "None"})
        head = HEAD.format("A typed method for every route of the hub.")
        lines = [
            head,
            "from __future__ import annotations",
            "",
            "from typing import Any, Literal, cast",
            "",
            "from ._http import Http, Page, quoted",
            "from ._wire import (",
            *[f"    {name}," for name in names],
            ")",
            "",
            "",
            "class Calls:",
            '    """All routes, by their operation ids."""',
            "",
            "    def __init__(self, http: Http) -> None:",
            "        self._http = http",
            "",
        ]
        return "\n".join(lines) + "\n" + "\n\n".join(methods) + "\n"


def refusals(codes: dict) -> str:
    """An exception class for every error code."""
    head = HEAD.format("An exception for every error code of the hub.")
    lines = [head, "from .errors import Refused", ""]
    names = []
    for code, meaning in zip(codes["enum"], codes["x-enum-descriptions"], strict=True):
        name = "HubTimeout" if code == "timeout" else camel(code)
        names.append((code, name))
        lines += ["", f"class {name}(Refused):", f'    """`{code}`: {meaning}."""', ""]
    lines += ["", "BY_CODE: dict[str, type[Refused]] = {", *[f'    "{code}": {name},' for code, name in names], "}", ""]
    lines += ["__all__ = [", *[f'    "{name}",' for _, name in sorted(names, key=lambda one: one[1])], "]"]
    return "\n".join(lines) + "\n"


def tables(words: dict) -> str:
    """What the packages look up."""
    listed = json.loads(read(VECTORS / "fingerprints.json"))["words"]
    invisible = json.loads(read(VECTORS / "names.json"))["invisible"]
    lines = [HEAD.format("Tables: the words of fingerprints, invisible characters, statuses that end a task."), "WORDS = ("]
    lines += ["    " + " ".join(f'"{word}",' for word in listed[at : at + 8]) for at in range(0, 256, 8)]
    lines += [")", "", "INVISIBLE = (", *[f"    ({first}, {last})," for first, last in invisible], ")", ""]
    lines += ["TERMINAL = frozenset(", "    (" + ", ".join(f'"{word}"' for word in words["terminal"]) + ")", ")"]
    return "\n".join(lines) + "\n"


def main() -> int:
    hub, words = document(), json.loads(read(VECTORS / "words.json"))
    types = Types(hub)
    files = {
        "_wire.py": types.text(),
        "_calls.py": Calls(hub, types).text(),
        "_codes.py": refusals(hub["components"]["schemas"]["ErrorCode"]),
        "_tables.py": tables(words),
    }
    stale = [name for name, text in files.items() if not (PYTHON / name).exists() or read(PYTHON / name) != text]
    if "--check" in sys.argv:
        for name in stale:
            print(f"sdk/python/src/tandem_hub/{name} is out of date: run python3 sdk/generate.py")
        return 1 if stale else 0
    for name in stale:
        (PYTHON / name).write_text(files[name], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
