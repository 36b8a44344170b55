"""Files that stay in the build folder from one command to the next, while other commands look for them."""

import contextlib
import os


def keep(path, content):
    """The file holds `content`: one that an older version made, or with another toolkit, is replaced."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        if file.read() == content:
            return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    own = f"{path}.{os.getpid()}"
    with open(own, "wb") as file:
        file.write(content)
    os.replace(own, path)


def link(target, path):
    """A symbolic link, where there is none of that name."""
    with contextlib.suppress(FileExistsError):
        os.symlink(target, path)
