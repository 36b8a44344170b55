"""The stream of the call that a worker is in."""

from __future__ import annotations

from plumbline._errors import PlumblineError

streams: list[int] = []  # one, or none


def current_stream() -> int:
    """The CUDA stream of the call that the judge makes, as a number: what a launch has to be given, or has to wait for.

    It is torch's and CuPy's current stream already. PlumblineError: this is no function that the judge has called on a GPU.
    """
    if not streams:
        raise PlumblineError("current_stream(): asked outside of a call that the judge makes on a GPU")
    return streams[-1]
