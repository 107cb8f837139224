"""Prints how many lines of code the package has that were written by hand, without blank lines, comments and documentation."""

import ast
import io
import pathlib
import tokenize

GENERATED = {"_calls.py", "_codes.py", "_tables.py", "_wire.py"}
PACKAGE = pathlib.Path(__file__).parent.parent / "src/tandem_hub"
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def lines_of(text: str) -> int:
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            code.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(code)


if __name__ == "__main__":
    print(sum(lines_of(path.read_text()) for path in PACKAGE.glob("*.py") if path.name not in GENERATED))
