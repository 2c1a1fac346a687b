"""A board out and in by the command."""

import pytest

from boards.models import Card

pytestmark = pytest.mark.processes


def test_a_board_and_a_table_go_through_files(shell, world):
    world.add("Café ✓", payload={"a": [1, None]})
    board = f"board_id={world.board}"
    first = shell("export_board", board).out
    (shell.folder / "board.json").write_text(first)
    made = shell("import_board", "document:=@board.json").json
    assert shell("export_board", f"board_id={made['board_id']}").out == first
    (shell.folder / "tasks.csv").write_text("Task;When\nOne;31.12.2026\n")
    seen = shell("preview_import", "text=@tasks.csv", "file_name=tasks.csv").json
    assert [one["role"] for one in seen["table"]] == ["title", "property"]
    import_id = f"import_id={seen['import_id']}"
    done = shell("import_file", import_id, "roles=title,due").json
    assert (done["state"], done["imported"]) == ("done", 1)
    assert Card.objects.get(title="One").due.year == 2026
