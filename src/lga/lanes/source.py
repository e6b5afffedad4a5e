"""The C++ text of a program of scalars.

Compilers take much longer than twice as long for a function of twice the length. So a long program is cut into parts,
each a function of its own; scalars that one part makes and another needs lie in memory between them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from lga.lanes.scalars import Call, Line, Loop, Memory, Operation, Scalar, kind_of, numbers

TYPES = {"f": "F", "i": "I", "u": "U", "b": "B"}
RESERVED = ("and", "or", "xor", "not")
LONGEST_PART = 1500
OPERANDS = (
    "const U* __restrict carried, const Owned* __restrict own, const uint32_t* __restrict shared, U* __restrict between"
)


def step_text(lines: Sequence[Line], last: Sequence[Any]) -> tuple[str, int]:
    """Functions for all parts and the body of `step`, which ends with `last` in memory; and how much lies between."""
    writer = Writer(lines, last)
    body = writer.block(lines, "  ")
    body += [f"  following[{row}] = {writer.word(value)};" for row, value in enumerate(last)]
    head = f"void step({OPERANDS}, U* following) {{"
    return "\n".join([*writer.functions, head, *body, "}"]), len(writer.slots)


def parts_of(lines: Sequence[Line]) -> Iterator[Loop | list[Line]]:
    """Runs of lines that become functions, and loops that are too long to be among them, in their order."""
    part: list[Line] = []
    room = LONGEST_PART
    for line in lines:
        length = length_of(line)
        if part and (length > room or length > LONGEST_PART):
            yield part
            part, room = [], LONGEST_PART
        if length > LONGEST_PART and isinstance(line, Loop):
            yield line
        else:
            part.append(line)
            room -= length
    if part:
        yield part


def length_of(line: Line) -> int:
    if isinstance(line, Loop):
        return len(line.carried) + sum(map(length_of, line.body.lines))
    return 1 + len(line.results) if isinstance(line, Call) else 1


def made_by(line: Line) -> list[Scalar]:
    if isinstance(line, Operation):
        return [line.result]
    if isinstance(line, Call):
        return line.results
    return line.carried + [scalar for inner in line.body.lines for scalar in made_by(inner)]


def needed_by(line: Line) -> list[int]:
    if isinstance(line, Operation):
        return numbers(line.arguments)
    if isinstance(line, Call):
        return [number for array in line.arrays if isinstance(array, list) for number in numbers(array)]
    inner = [number for each in line.body.lines for number in needed_by(each)]
    return numbers(line.begin) + numbers(line.end) + inner


class Writer:
    """Text, and which scalars lie in memory: those that are needed in another function than the one that makes them."""

    def __init__(self, lines: Sequence[Line], last: Sequence[Any]) -> None:
        self.functions: list[str] = []
        self.kinds: dict[int, str] = {}
        self.part: set[int] | None = None
        """What the function that is being written knows by name; None in the outermost one."""
        self.outside = set(numbers(last))
        self.slots: dict[int, int] = {}
        self.find_slots(lines)

    def find_slots(self, lines: Sequence[Line]) -> None:
        for part in parts_of(lines):
            if isinstance(part, list):
                inside = {scalar.number for line in part for scalar in made_by(line)}
                self.kinds |= {scalar.number: scalar.kind for line in part for scalar in made_by(line)}
                self.take_slots({number for line in part for number in needed_by(line)} - inside)
                continue
            self.kinds |= {scalar.number: scalar.kind for scalar in part.carried}
            self.outside |= {*numbers(part.begin), *numbers(part.end)}
            self.find_slots(part.body.lines)
            self.take_slots(scalar.number for scalar in part.carried)
        self.take_slots(self.outside & set(self.kinds))

    def take_slots(self, wanted: Iterable[int]) -> None:
        for number in sorted(wanted):
            self.slots.setdefault(number, len(self.slots))

    def name(self, value: Any) -> str:
        """Of a scalar, or of a number that is known; in the outermost function all scalars lie in memory."""
        if isinstance(value, Scalar) and self.part is None:
            return f"{value.kind}_word(between[{self.slots[value.number]}])"
        return name_of(value)

    def word(self, value: Any) -> str:
        name = self.name(value)
        return f"word_of_truth({name})" if kind_of(value) == "b" else f"word({name})"

    def kept(self, scalars: Iterable[Scalar], indent: str) -> list[str]:
        """Puts into memory whatever others need."""
        return [
            f"{indent}between[{self.slots[scalar.number]}] = {self.word(scalar)};"
            for scalar in scalars
            if scalar.number in self.slots
        ]

    def block(self, lines: Sequence[Line], indent: str) -> list[str]:
        text: list[str] = []
        for part in parts_of(lines):
            if isinstance(part, list):
                text.append(f"{indent}{self.function(part)}(carried, own, shared, between);")
            else:
                text += self.long_loop(part, indent)
        return text

    def function(self, lines: list[Line]) -> str:
        """Writes a part, and says its name."""
        name = f"part_{len(self.functions)}"
        self.part = {scalar.number for line in lines for scalar in made_by(line)}
        outside = sorted({number for line in lines for number in needed_by(line)} - self.part)
        text = [f"__attribute__((noinline)) void {name}({OPERANDS}) {{"]
        for number in outside:
            kind = self.kinds[number]
            text.append(f"  const {TYPES[kind]} {kind}{number} = {kind}_word(between[{self.slots[number]}]);")
        for line in lines:
            text += self.line(line, "  ")
        self.functions.append("\n".join([*text, "}"]))
        self.part = None
        return name

    def line(self, line: Line, indent: str) -> list[str]:
        if isinstance(line, Operation):
            return [indent + operation_text(line), *self.kept([line.result], indent)]
        if isinstance(line, Call):
            return [*call_text(line, indent), *self.kept(line.results, indent)]
        return [*self.short_loop(line, indent), *self.kept(line.carried, indent)]

    def short_loop(self, loop: Loop, indent: str) -> list[str]:
        """What is carried is assigned all at once, for one end may be another's beginning."""
        pairs = list(zip(loop.carried, loop.begin, loop.end, strict=True))
        text = [f"{indent}{TYPES[one.kind]} {name_of(one)} = {name_of(begin)};" for one, begin, _ in pairs]
        text.append(f"{indent}{self.head(loop)}")
        for line in loop.body.lines:
            text += self.line(line, indent + "  ")
        text += [f"{indent}  const {TYPES[one.kind]} next_{name_of(one)} = {name_of(end)};" for one, _, end in pairs]
        text += [f"{indent}  {name_of(one)} = next_{name_of(one)};" for one, _, _ in pairs]
        return [*text, f"{indent}}}"]

    def long_loop(self, loop: Loop, indent: str) -> list[str]:
        """The same, with all that is carried in memory."""
        places = [f"between[{self.slots[scalar.number]}]" for scalar in loop.carried]
        text = [f"{indent}{place} = {self.word(begin)};" for place, begin in zip(places, loop.begin, strict=True)]
        text += [f"{indent}{self.head(loop)}", *self.block(loop.body.lines, indent + "  ")]
        names = [f"next_{scalar.number}" for scalar in loop.carried]
        text += [f"{indent}  const U {name} = {self.word(end)};" for name, end in zip(names, loop.end, strict=True)]
        text += [f"{indent}  {place} = {name};" for place, name in zip(places, names, strict=True)]
        return [*text, f"{indent}}}"]

    def head(self, loop: Loop) -> str:
        if loop.going is not None:
            return f"while (any({self.word(loop.going)})) {{"
        return f"for (int turn_number = 0; turn_number < {loop.length}; ++turn_number) {{"


def name_of(value: Any) -> str:
    if isinstance(value, Scalar):
        return f"{value.kind}{value.number}"
    kind = kind_of(value)
    if kind == "f":
        # By its bits: some numbers have no other spelling.
        return f"f_word(all({np.asarray(value).view(np.uint32)}u))"
    if kind == "b":
        return f"all({'true' if value else 'false'})"
    return f"all({value}u)" if kind == "u" else f"all(static_cast<int32_t>({np.int64(value)}ll))"


def operation_text(line: Operation) -> str:
    if "_word_" in line.name:
        return load_text(line)
    function = f"{line.name}_" if line.name in RESERVED else line.name
    arguments = ", ".join(map(name_of, line.arguments))
    return f"const {TYPES[line.result.kind]} {name_of(line.result)} = {function}({arguments});"


def load_text(line: Operation) -> str:
    """A word of memory: of the lane, or the same for all lanes."""
    kind, name = line.name.split("_word_")
    place = f"{name}[{line.arguments[0]}]"
    place = place if name == "carried" else f"word_of({place})"
    return f"const {TYPES[kind]} {name_of(line.result)} = {kind}_word({place});"


def call_text(call: Call, indent: str) -> list[str]:
    """Results lie in an array that is named by the first of them, and arguments in arrays named after it."""
    made = f"of_{name_of(call.results[0])}"
    text, places = [f"{indent}alignas(64) static thread_local F {made}[{len(call.results)}];"], []
    for number, array in enumerate(call.arrays):
        if isinstance(array, Memory):
            places.append(f"{array.name} + {array.start}")
            continue
        places.append(f"{made}_{number}")
        text.append(f"{indent}alignas(64) static thread_local F {places[-1]}[{len(array)}];")
        text += [f"{indent}{places[-1]}[{row}] = {name_of(value)};" for row, value in enumerate(array)]
    settings = ", ".join(map(str, call.settings))
    text.append(f"{indent}{call.name}<{settings}>({', '.join(places)}, {made});")
    return text + [f"{indent}const F {name_of(scalar)} = {made}[{row}];" for row, scalar in enumerate(call.results)]
