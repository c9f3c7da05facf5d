"""What a mutant is: one small change of one expression or statement, found in a file's syntax tree.

A site is found again after its file was moved or renamed: its key is made of the function's
qualified name, the statement as the parser writes it, the operator, and which of several alike.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_BOUNDARY: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_TYPES_ONLY = {"Literal", "TypeVar", "cast", "NewType", "overload", "NamedTuple"}
_COMPOUND = (
    *(ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Try, ast.Match),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)
_NAMED = ast.Name | ast.Attribute | ast.Subscript | ast.Call
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Site:
    """One possible mutant: bytes `begin` to `end` of the file become `after`, a node or its text."""

    operator: str
    line: int
    begin: int
    end: int
    change: ast.AST | str
    function: str  # qualified within its module; "" for what is executed by the import
    statement: str  # as the parser writes it
    lines: tuple[int, ...]  # of the whole statement
    names: tuple[str, ...]  # what a statement that the import executes defines
    compiled: bool  # its function is compiled to machine code, which no tracer sees
    key: str = ""

    @property
    def after(self) -> str:
        """What stands there then."""
        return self.change if isinstance(self.change, str) else _in_brackets(self.change)

    def applied(self, source: bytes) -> bytes:
        """Give the file's content with this change."""
        return source[: self.begin] + self.after.encode() + source[self.end :]


def sites(source: bytes) -> list[Site]:
    """Give all sites of a file, in its order, with their keys."""
    tree = ast.parse(source)
    found = list(_Finder(source).of(tree.body, "", ()))
    alike: Counter[tuple[str, ...]] = Counter()
    keyed = []
    for site in sorted(found, key=lambda one: (one.begin, one.end, one.operator)):
        same = (site.function, site.statement, site.operator)
        text = "\0".join((*same, str(alike[same])))
        alike[same] += 1
        values = {name: getattr(site, name) for name in Site.__slots__}
        keyed.append(Site(**values | {"key": hashlib.sha256(text.encode()).hexdigest()[:16]}))
    return keyed


def is_compiled(function: Function) -> bool:
    """Tell whether a function is compiled to machine code."""
    return any(
        getattr(m, "attr", getattr(m, "id", "")) == "kernel" for m in function.decorator_list
    )


class _Finder:
    """Goes through the statements of a file."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def of(
        self, body: list[ast.stmt], function: str, names: tuple[str, ...], *, compiled: bool = False
    ) -> Iterator[Site]:
        for statement in body:
            if _is_left_out(statement):
                continue
            mine = names or _defined(statement)
            inner, inside = function, mine
            machine = compiled
            if isinstance(statement, Function):
                inner, inside = _joined(function, statement.name), (statement.name,)
                machine = compiled or is_compiled(statement)
            elif isinstance(statement, ast.ClassDef):
                # its fields are set by the import; who uses them names the class
                yield from self._class(statement, function)
                continue
            where = _Where(function, _normal(statement), _lines(statement), mine, compiled)
            yield from self._statement(statement, where)
            for part in _bodies(statement):
                yield from self.of(part, inner, inside, compiled=machine)

    def _class(self, statement: ast.ClassDef, function: str) -> Iterator[Site]:
        inside = _joined(function, statement.name)
        for part in statement.body:
            if isinstance(part, Function):
                yield from self.of([part], inside, (statement.name,))
            else:
                for site in self.of([part], "", (statement.name, *_defined(part))):
                    values = {name: getattr(site, name) for name in Site.__slots__}
                    yield Site(**values | {"statement": f"{inside}: {site.statement}"})

    def _statement(self, statement: ast.stmt, where: _Where) -> Iterator[Site]:
        removable = (
            (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call | ast.Await))
            or isinstance(statement, ast.AugAssign | ast.Raise | ast.Delete)
            or (
                isinstance(statement, ast.Assign)
                and isinstance(statement.targets[0], ast.Attribute | ast.Subscript)
            )
        )
        if removable and where.function:
            yield self._site("statement", statement, "pass", where)
        if isinstance(statement, ast.Continue | ast.Break):
            other = "break" if isinstance(statement, ast.Continue) else "continue"
            yield self._site("loop", statement, other, where)
        if isinstance(statement, ast.Return) and not _is_none(statement.value):
            yield self._site("return", statement, "return None", where)
        if isinstance(statement, ast.AugAssign) and not _is_text(statement.value):
            target, op, value = statement.target, type(statement.op), statement.value
            for swapped in filter(None, [_ARITHMETIC.get(op)]):
                yield self._site(
                    "arithmetic", statement, ast.AugAssign(target, swapped(), value), where
                )
        if isinstance(statement, ast.If | ast.While):
            yield from self._negated(statement.test, where)
        for expression in _expressions(statement):
            yield from self._expression(expression, where)

    def _expression(self, node: ast.expr, where: _Where) -> Iterator[Site]:
        if isinstance(node, ast.JoinedStr) or _says_types_only(node):
            return  # parts of an f-string have no places of their own before Python 3.12
        for operator, changed in _changes(node):
            yield self._site(operator, node, changed, where)
        if isinstance(node, ast.IfExp):
            yield from self._negated(node.test, where)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self._expression(child, where)
            elif isinstance(child, ast.keyword):
                yield from self._expression(child.value, where)
            elif isinstance(child, ast.comprehension):
                for test in child.ifs:
                    yield from self._negated(test, where)
                for part in (child.iter, *child.ifs):
                    yield from self._expression(part, where)

    def _negated(self, test: ast.expr, where: _Where) -> Iterator[Site]:
        """Negate a condition, unless another operator does that."""
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return
        if not isinstance(test, ast.Constant | ast.UnaryOp):
            yield self._site("condition", test, ast.UnaryOp(ast.Not(), test), where)

    def _site(
        self, operator: str, node: ast.expr | ast.stmt, change: ast.AST | str, where: _Where
    ) -> Site:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        return Site(
            operator, node.lineno, begin, end, change, where.function, where.statement, where.lines,
            where.names, where.compiled,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Where:
    function: str
    statement: str
    lines: tuple[int, ...]
    names: tuple[str, ...]
    compiled: bool


def _changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Give what an expression may become, each with the operator's name."""
    match node:
        case ast.Compare():
            yield from _compared_otherwise(node)
        case ast.BinOp(left, op, right):
            if type(op) in _ARITHMETIC and not _is_text(left) and not _is_text(right):
                yield "arithmetic", ast.BinOp(left, _ARITHMETIC[type(op)](), right)
        case ast.BoolOp(op, values):
            yield "and_or", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield "not", operand
        case ast.UnaryOp(ast.USub(), operand):
            yield "sign", operand
        case ast.Constant(bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(int(value) | float(value)) if abs(value) < 2**62:
            yield "constant", ast.Constant(value + 1)
            yield "constant", ast.Constant(value - 1)
        case ast.Call(func, [first, second, *rest], keywords):
            # two that could be taken for each other: others fail whatever is asserted
            alike = isinstance(first, _NAMED) and isinstance(second, _NAMED)
            if alike and ast.dump(first) != ast.dump(second):
                yield "arguments", ast.Call(func, [second, first, *rest], keywords)


def _compared_otherwise(node: ast.Compare) -> Iterator[tuple[str, ast.expr]]:
    for operator, table in (("comparison", _NEGATED), ("boundary", _BOUNDARY)):
        for k, op in enumerate(node.ops):
            if type(op) in table:
                ops = [*node.ops[:k], table[type(op)](), *node.ops[k + 1 :]]
                yield operator, ast.Compare(node.left, ops, node.comparators)


def _in_brackets(node: ast.AST) -> str:
    """Write an expression so that it stands for itself wherever it is put."""
    text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))
    plain = isinstance(node, ast.stmt | ast.Call | ast.Name | ast.Attribute | ast.Subscript)
    positive = isinstance(node, ast.Constant) and not text.startswith("-")
    return text if plain or positive else f"({text})"


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _is_left_out(statement: ast.stmt) -> bool:
    """Tell what no test should judge: imports, docstrings, asserts, what only a type checker reads."""
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if isinstance(statement, ast.If):
        return ast.unparse(statement.test).rpartition(".")[2] == "TYPE_CHECKING"
    if isinstance(statement, Function):
        return any(ast.unparse(m).endswith("overload") for m in statement.decorator_list)
    names = _defined(statement)
    return bool(names) and set(names) <= {"__all__", "__slots__"}


def _says_types_only(node: ast.expr) -> bool:
    named = node.value if isinstance(node, ast.Subscript) else None
    named = node.func if isinstance(node, ast.Call) else named
    return getattr(named, "attr", getattr(named, "id", None)) in _TYPES_ONLY


def _defined(statement: ast.stmt) -> tuple[str, ...]:
    """Give the names that a statement binds at its own level."""
    if isinstance(statement, Function | ast.ClassDef):
        return (statement.name,)
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    return tuple(
        node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
    )


def _joined(outer: str, name: str) -> str:
    return f"{outer}.{name}" if outer else name


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        part = getattr(statement, name, [])
        if part and isinstance(part, list):
            yield part
    for handler in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
        yield handler.body


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Give the expressions of a statement itself: without annotations, decorators, inner statements."""
    if isinstance(statement, Function):
        yield from statement.args.defaults
        yield from (default for default in statement.args.kw_defaults if default is not None)
    elif isinstance(statement, ast.AnnAssign):
        if statement.value is not None:
            yield statement.value
    elif isinstance(statement, ast.With | ast.AsyncWith):
        yield from (item.context_expr for item in statement.items)
    elif isinstance(statement, ast.Match):
        yield statement.subject
    else:
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr):
                yield child


def _normal(statement: ast.stmt) -> str:
    """Write a statement as the parser does; of a compound one its head only."""
    if isinstance(statement, _COMPOUND):
        parts = "; ".join(ast.unparse(expression) for expression in _expressions(statement))
        return f"{type(statement).__name__} {parts}"
    return ast.unparse(statement)


def _lines(statement: ast.stmt) -> tuple[int, ...]:
    """Give the lines of a statement; of a compound one those of its head."""
    assert statement.end_lineno is not None
    if not isinstance(statement, _COMPOUND):
        return tuple(range(statement.lineno, statement.end_lineno + 1))
    ends = [one.end_lineno or one.lineno for one in _expressions(statement)]
    return tuple(range(statement.lineno, max([statement.lineno, *ends]) + 1))
