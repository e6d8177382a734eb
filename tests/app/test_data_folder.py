from pathlib import Path

import pytest

from app.data_folder import DataFolder
from domain.errors import Rejected


def test_a_full_disk_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "up.lock").symlink_to("/dev/full")
    with pytest.raises(Rejected, match="data folder cannot be used"):
        DataFolder(tmp_path)
