"""Files that are whole, below the folder they are meant for."""

import os
import stat
import threading

import pytest

from ratecheck.files import read_below, replacing, together, write_whole


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_text_and_bytes_are_written_as_they_are(tmp_path):
    assert write_whole(tmp_path / "text", "α\r\nβ\n").read_bytes() == "α\r\nβ\n".encode()
    with replacing(tmp_path / "bytes", "wb") as file:
        file.write(b"\0\r\n")
    assert (tmp_path / "bytes").read_bytes() == b"\0\r\n"
    assert names(tmp_path) == ["bytes", "text"]


def test_the_mode_of_a_file_follows_the_mask(tmp_path):
    mask = os.umask(0o027)
    try:
        write_whole(tmp_path / "x", "")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


@pytest.mark.parametrize("error", [OSError("no"), KeyboardInterrupt(), ValueError("no")])
def test_an_error_leaves_the_old_file_alone(tmp_path, error):
    write_whole(tmp_path / "x", "old")

    def write():
        with replacing(tmp_path / "x") as file:
            file.write("new")
            file.flush()
            assert len(names(tmp_path)) == 2
            raise error

    with pytest.raises(type(error)):
        write()
    assert (tmp_path / "x").read_text("utf-8") == "old"
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("kind", ["a symbolic link", "a folder", "no ordinary file"])
def test_what_is_no_file_is_refused(tmp_path, kind):
    path = tmp_path / "x"
    {
        "a symbolic link": lambda: path.symlink_to("y"),
        "a folder": path.mkdir,
        "no ordinary file": lambda: os.mkfifo(path),
    }[kind]()
    with pytest.raises(FileExistsError, match=f"x is {kind}, and an ordinary file belongs there; remove it, or "):
        write_whole(path, "text")
    with pytest.raises(FileExistsError, match=f"x is {kind}"):
        read_below(tmp_path, "x")
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/tmp/x", "", "."])
def test_a_name_stays_below_its_folder(tmp_path, name):
    with pytest.raises(ValueError, match="does not lie below"), together(tmp_path) as drafts:
        drafts.write(name, "text")
    with pytest.raises(ValueError, match="does not lie below"):
        read_below(tmp_path, name)


def test_a_link_that_is_planted_meanwhile_does_not_help(tmp_path):
    """The folder was entered before, and the file replaces a link instead of following it."""
    (tmp_path / "elsewhere").mkdir()
    write_whole(tmp_path / "elsewhere" / "mine", "mine")
    (tmp_path / "root").mkdir()
    with together(tmp_path / "root") as drafts:
        drafts.write("figures/x", "one")
        (tmp_path / "root" / "figures").rename(tmp_path / "root" / "moved")
        (tmp_path / "root" / "figures").symlink_to(tmp_path / "elsewhere")
        (tmp_path / "root" / "moved" / "y").symlink_to(tmp_path / "elsewhere" / "mine")
        with pytest.raises(FileExistsError):
            drafts.write("figures/y", "two")
        drafts.write("z", "three")
        (tmp_path / "root" / "z").symlink_to(tmp_path / "elsewhere" / "mine")
    assert names(tmp_path / "elsewhere") == ["mine"]
    assert (tmp_path / "elsewhere" / "mine").read_text("utf-8") == "mine"
    assert (tmp_path / "root" / "z").read_text("utf-8") == "three"


def test_drafts_take_their_places_together(tmp_path):
    for name in ("x", "y", "stale"):
        write_whole(tmp_path / name, "old")
    with together(tmp_path) as drafts:
        drafts.write("x", "new")
        drafts.write("a/b/y", "new")
        drafts.remove("stale")
        drafts.remove("never there")
        assert (tmp_path / "x").read_text("utf-8") == "old"
        assert (tmp_path / "stale").exists()
    assert (tmp_path / "x").read_text("utf-8") == read_below(tmp_path, "a/b/y").decode() == "new"
    assert names(tmp_path) == ["a", "x", "y"]


def test_two_writers_do_not_disturb_each_other(tmp_path):
    texts = [letter * 100_000 for letter in "ab"]
    (tmp_path / ".0123456789abcdef.part").write_text("of a writer that was killed", encoding="utf-8")
    troubles = []

    def write(text):
        try:
            for _ in range(100):
                write_whole(tmp_path / "x", text)
                assert (tmp_path / "x").read_text("utf-8") in texts
        except BaseException as error:
            troubles.append(error)

    writers = [threading.Thread(target=write, args=[text]) for text in texts]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not troubles
    assert names(tmp_path) == [".0123456789abcdef.part", "x"]


def test_no_descriptor_is_left_open(tmp_path):
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    if before is None:
        pytest.skip("no /proc on this machine")
    with together(tmp_path) as drafts:
        drafts.write("a/b", "text")
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "a", "text")
    assert read_below(tmp_path, "a/b") == b"text"
    assert len(os.listdir("/proc/self/fd")) == before
