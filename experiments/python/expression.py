"""The integer expressions of launches (docs/spec.md, Expressions)."""

import re
from typing import List, Mapping

from .errors import InputError

_TOKEN = re.compile(r"\s*(0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|\|\||&&|[=!<>]=|[-+*/%()<>?:,!])")
_COMPARE = {"==", "!=", "<", "<=", ">", ">="}


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise InputError("warpath: division by zero in a launch")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


class _Parser:
    def __init__(self, text: str, numbers: Mapping[str, int]):
        self.text, self.numbers = text, numbers
        self.tokens: List[str] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if not match:
                raise InputError(f"warpath: got {text!r}, expected an integer expression")
            self.tokens.append(match.group(1))
            position = match.end()
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> bool:
        if self.peek() in wanted and self.peek():
            self.at += 1
            return True
        return False

    def expect(self, wanted: str) -> None:
        if not self.take(wanted):
            raise InputError(f"warpath: {self.text!r}: expected {wanted!r}")

    def choice(self) -> int:
        condition = self.either()
        if not self.take("?"):
            return condition
        first = self.choice()
        self.expect(":")
        second = self.choice()
        return first if condition else second

    def either(self) -> int:
        value = self.both()
        while self.take("or", "||"):
            other = self.both()
            value = int(bool(value) or bool(other))
        return value

    def both(self) -> int:
        value = self.negated()
        while self.take("and", "&&"):
            other = self.negated()
            value = int(bool(value) and bool(other))
        return value

    def negated(self) -> int:
        return int(not self.negated()) if self.take("not", "!") else self.compared()

    def compared(self) -> int:
        value, sign = self.sum(), self.peek()
        if sign not in _COMPARE:
            return value
        self.at += 1
        other = self.sum()
        return int({"==": value == other, "!=": value != other, "<": value < other,
                    "<=": value <= other, ">": value > other, ">=": value >= other}[sign])

    def sum(self) -> int:
        value = self.product()
        while self.peek() in ("+", "-"):
            plus = self.take("+") or not self.take("-")
            value += self.product() if plus else -self.product()
        return value

    def product(self) -> int:
        value = self.unary()
        while self.peek() in ("*", "/", "%"):
            sign = self.peek()
            self.at += 1
            other = self.unary()
            value = value * other if sign == "*" else _divide(value, other) if sign == "/" else value - _divide(value, other) * other
        return value

    def unary(self) -> int:
        return -self.unary() if self.take("-") else self.atom()

    def atom(self) -> int:
        token = self.peek()
        self.at += 1
        if token == "(":
            value = self.choice()
            self.expect(")")
            return value
        if token[:1].isdigit():
            return int(token, 0) if token[:2].lower() == "0x" else int(token)
        if self.take("("):
            return self.function(token)
        if token in self.numbers:
            return int(self.numbers[token])
        raise InputError(f"warpath: {self.text!r}: no value for {token!r}")

    def function(self, name: str) -> int:
        values = [self.choice()]
        while self.take(","):
            values.append(self.choice())
        self.expect(")")
        if name == "ceil_div" and len(values) == 2:
            a, b = values
            quotient = _divide(a, b)
            return quotient + (a - quotient * b != 0 and (a < 0) == (b < 0))
        if name == "align_up" and len(values) == 2 and values[1] > 0:
            return -(-values[0] // values[1]) * values[1]
        if name in ("min", "max"):
            return min(values) if name == "min" else max(values)
        if name == "abs" and len(values) == 1:
            return abs(values[0])
        raise InputError(f"warpath: {self.text!r}: no function {name} of {len(values)} numbers")


def evaluate(text: str, numbers: Mapping[str, int]) -> int:
    """The value of an expression. Raises InputError for one that has none."""
    parser = _Parser(text, numbers)
    value = parser.choice()
    if parser.peek():
        raise InputError(f"warpath: {text!r}: expected its end at {parser.peek()!r}")
    return value


def split(text: str) -> List[str]:
    """At the commas outside parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
