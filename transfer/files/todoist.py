"""Todoist's CSV, in which rows are of kinds: sections, tasks, and notes on tasks."""

from dataclasses import replace

from transfer.files.tables import Row, Table

_KNOWN = {"type", "content", "description", "priority", "indent"}
_SECTION = "SECTION"


def flattened(table: Table) -> Table:
    """A table of tasks: the section as a column more, notes behind the description. Any
    other table as it is."""
    header = [cell.strip().casefold() for cell in table.rows[0].cells]
    if not set(header) >= _KNOWN:
        return table
    kind, content, description = (
        header.index(name) for name in ("type", "content", "description")
    )
    width = len(header)
    section, dropped = "", 0
    rows = [Row(table.rows[0].line, [*table.rows[0].cells, _SECTION])]
    for row in table.rows[1:]:
        cells = (row.cells + [""] * width)[:width]
        what = cells[kind].strip().casefold()
        if what == "section":
            section = cells[content]
        elif what == "note" and len(rows) > 1:
            told = rows[-1].cells
            told[description] = f"{told[description]}\n\n{cells[content]}".strip()
        elif what == "task":
            rows.append(Row(row.line, [*cells, section]))
        else:
            dropped += 1
    notes = ["A file of Todoist: sections are lists, notes stand in the descriptions."]
    if dropped:
        notes.append(f"Rows with settings of Todoist, not carried: {dropped}.")
    return replace(table, rows=rows, width=width + 1, notes=[*table.notes, *notes])
