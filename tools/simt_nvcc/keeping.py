"""Files that stay in the build folder from one command to the next, while other commands look for them."""

import os


def keep(path, content):
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    own = f"{path}.{os.getpid()}"
    with open(own, "wb") as file:
        file.write(content)
    os.replace(own, path)
