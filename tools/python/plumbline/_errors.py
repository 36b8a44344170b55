"""The one exception of the package."""


class PlumblineError(Exception):
    """A command that cannot be carried out: an unknown operator, a file that cannot be imported, a missing program. The text is one line."""
