"""Write the tables of docs/ring.md anew from the header: ``python scripts/ring_page.py``.

A C compiler says where each member lies and what each name is worth; what they mean is written in the page, whose last
column stays as it is.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "ring.md"
INCLUDE = ROOT / "include"
HEADERS = sorted((INCLUDE / "sim_node" / "ring").glob("*.h"))
TEXT = "\n".join(header.read_text("utf-8") for header in HEADERS)
# what lies in the segment; sn_ring, sn_reader and sn_tick are a process's own
STRUCTS = ("sn_control", "sn_geometry", "sn_entry", "sn_slot", "sn_mailbox", "sn_lane")
COMPILERS = {"c": ("cc", "-std=c11", "-D_GNU_SOURCE"), "c++": ("c++", "-std=c++17")}

# cells before the last → the whole row
Rows = list[tuple[str, ...]]


def members(struct: str) -> list[str]:
    """Name the members of a struct in order, as the header declares them."""
    found = re.search(r"typedef struct \{([^}]*)\}[^;{}]*\b" + struct + ";", TEXT)
    if found is None:
        raise SystemExit(f"ring_page: the header declares no struct {struct}")
    body = re.sub(r"/\*.*?\*/|__attribute__\(\(aligned\(\d+\)\)\)|\[\w+\]", "", found[1], flags=re.DOTALL)
    *lists, rest = [each.strip() for each in body.split(";")]
    if rest or not all(re.fullmatch(r"(unsigned )?\w+\s+\w+(\s*,\s*\w+)*", each) for each in lists):
        raise SystemExit(f"ring_page: the declaration of {struct} is not one that this script reads")
    return [name.split()[-1] for each in lists for name in each.split(",")]


def constants() -> list[str]:
    """Name the numbers that the headers define."""
    return re.findall(r"^#define (SN_\w+) ", TEXT, re.MULTILINE)


def codes() -> list[str]:
    """Name what functions return."""
    found = re.search(r"enum \{(.*?)\};", TEXT, re.DOTALL)
    assert found is not None
    return re.findall(r"(SN_\w+) =", found[1])


def tables(language: str = "c") -> dict[str, Rows]:
    """Compile and ask: the rows of each table of the page, without their last cells."""
    lines = []
    for struct in STRUCTS:
        for name in members(struct):
            sizes = f"offsetof({struct}, {name}), sizeof((({struct} *)0)->{name})"
            lines.append(f'printf("{struct} %zu %zu {name}\\n", {sizes});')
        lines.append(f'printf("{struct} %zu - end\\n", sizeof({struct}));')
    for name in constants():
        lines.append(f'printf("constants %llu {name}\\n", (unsigned long long){name});')
    for name in codes():
        lines.append(f'printf("codes %d {name}\\n", {name});')
    program = "\n".join(
        ("#include <stddef.h>", "#include <stdio.h>", "#include <sim_node/ring.h>", "int main(void) {", *lines, "}")
    )
    found: dict[str, Rows] = {}
    for line in _run(program, language).splitlines():
        table, *cells = line.split()
        if table == "constants" and int(cells[0]) > 2**32:
            cells[0] = f"{int(cells[0]):#018x}"
        found.setdefault(table, []).append((*cells[:-1], f"`{cells[-1]}`" if cells[-1] != "end" else cells[-1]))
    return found


def rewrite(text: str, found: dict[str, Rows]) -> str:
    """Put the rows into the page, each with the meaning that it had there; a new one has none."""
    for table, rows in found.items():
        begin, end = f"<!-- table: {table} -->\n", "<!-- end of table -->"
        if begin not in text:
            raise SystemExit(f"ring_page: {PAGE.name} has no place '{begin.strip()}'")
        before, rest = text.split(begin)
        old, after = rest.split(end, 1)
        head, rule, *present = old.splitlines()
        cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in present]
        meanings = {row[-2]: row[-1] for row in cells}
        new = [_row([*row, meanings.get(row[-1], "")]) for row in rows]
        text = before + begin + "\n".join([head, rule, *new]) + "\n" + end + after
    return text


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _run(program: str, language: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        source, executable = Path(folder, "ask.c"), Path(folder, "ask")
        source.write_text(program)
        command = [*COMPILERS[language], f"-I{INCLUDE}", "-x", language, str(source), "-o", str(executable)]
        subprocess.run(command, check=True)
        return subprocess.run([executable], check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(rewrite(PAGE.read_text("utf-8"), tables()), "utf-8")


if __name__ == "__main__":
    main()
