import pytest

from novum.web.backoff import picture
from novum.web.durations import list_of, seconds_of, words


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30), ("90s", 90), (" 5m ", 300), ("1h 30m", 5400), ("1d1s", 86401)],
)
def test_a_length_of_time_is_read_as_people_write_it(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "x", "-5", "1.5h", "30 60", "5 parsecs", "1e3"])
def test_what_is_no_length_of_time_is_refused(text):
    with pytest.raises(ValueError, match="no length of time"):
        seconds_of(text)


@pytest.mark.parametrize("seconds", [0, 1, 59, 60, 61, 3600, 86_400, 604_800, 90_061])
def test_what_is_written_is_read_back(seconds):
    assert seconds_of(words(seconds)) == seconds


def test_a_list_has_commas():
    assert list_of("30, 2m,,1h ") == [30, 120, 3600]
    assert list_of(" ") == []


def test_the_picture_repeats_the_last_wait_and_leaves_out_the_middle():
    drawn = picture(12, [30, 120])
    assert [step.wait for step in drawn.steps[:4]] == ["", "30s", "2m", "2m"]
    assert (drawn.last.attempt, drawn.skipped, drawn.total) == (12, 3, "20m 30s")
    short = picture(1, [30])
    assert (len(short.steps), short.last, short.total) == (1, None, "0s")
    assert [step.width for step in picture(3, []).steps] == [0, 0, 0]
