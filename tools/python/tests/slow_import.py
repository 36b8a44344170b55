"""Takes two seconds to be imported, as frameworks do."""

import time

import plumbline as pl

time.sleep(2)


@pl.variant("transpose")
def transpose(A):
    return A.T
