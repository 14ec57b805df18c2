"""The rings on this host: who owns them, who reads, who sends commands."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from sim_node.cli.output import Outcome, Table

RINGS = ("name", "owner_pid", "alive", "generation", "step", "age_ms", "dropped", "transport", "problem")
SLOTS = ("ring", "slots", "leases", "lease_limit_ms", "copies_per_tick", "huge_mib")
DEVICES = ("ring", "device_transport", "mapped_by")
READERS = ("ring", "pid", "uid", "alive", "leases", "step", "taken", "skipped", "lost", "revoked")
INPUTS = ("ring", "input", "exclusive", "silence", "in_charge", "step", "answers", "age_us")
LEFTOVERS = ("path", "bytes", "reason", "readers")
WRITERS = ("ring", "input", "name", "pid", "alive", "priority", "sent", "applied", "in_charge")


def rings() -> Outcome:
    """List the rings on this host: their owners, who maps their fields on a GPU, readers, inputs and their writers."""
    from sim_node.bridge import rings as found

    listed = [asdict(ring) for ring in found()]
    readers, inputs, writers = [], [], []
    for ring in listed:
        ring["age_ms"] = _scaled(ring.pop("age_ns"), 1e-6)
        ring["lease_limit_ms"] = _scaled(ring.pop("lease_limit_ns"), 1e-6)
        ring["huge_mib"] = _scaled(ring.pop("huge_bytes"), 2**-20)
        readers += [{"ring": ring["name"], **reader} for reader in ring["readers"]]
        for each in ring["inputs"]:
            each["age_us"] = _scaled(each.pop("age_ns"), 1e-3)
            charge = next((f"{w['name']} (pid {w['pid']})" for w in each["writers"] if w["in_charge"]), None)
            inputs.append({"ring": ring["name"], "input": each["name"], "in_charge": charge, **each})
            writers += [{"ring": ring["name"], "input": each["name"], **writer} for writer in each["writers"]]
    devices = [
        {"ring": ring["name"], **ring, "mapped_by": " ".join(map(str, ring["mapped_by"]))}
        for ring in listed
        if ring["device_transport"]
    ]
    tables = [_table("rings", RINGS, listed)]
    slots = [{"ring": ring["name"], **ring} for ring in listed if not ring["problem"]]
    parts = (
        ("slots", SLOTS, slots),
        ("fields on a GPU", DEVICES, devices),
        ("readers", READERS, readers),
        ("inputs", INPUTS, inputs),
        ("writers", WRITERS, writers),
    )
    tables += [_table(*part) for part in parts if part[2]]
    return Outcome({"rings": listed}, tables)


def clean(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be removed.")] = False,
) -> Outcome:
    """Remove what dead owners left in shared memory, and only that; name what stays, and why."""
    from sim_node.bridge import clean as find

    found = find(dry_run)
    gone, left = ([asdict(each) for each in found if each.dead is dead] for dead in (True, False))
    result = {"dry_run": dry_run, "removed": gone, "left": left, "bytes": sum(each["bytes"] for each in gone)}
    titles = ("would be removed" if dry_run else "removed", "left alone")
    tables = [_table(title, LEFTOVERS, rows) for title, rows in zip(titles, (gone, left)) if rows]
    return Outcome(result, tables, text="" if tables else "there is nothing to remove")


def _scaled(value: int | None, scale: float) -> float | None:
    return None if value is None else round(value * scale, 3)


def _table(title: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> Table:
    return Table(title, columns, [[row[column] for column in columns] for row in rows])
