"""What is mutated into what: the tables behind places.py, and the names under which the report counts."""

RELATIONAL = "relational operator replaced"
LOGICAL = "and, or swapped"
ARITHMETIC = "arithmetic operator replaced"
INDEX = "index off by one"
BOUND = "bound off by one"
CONSTANT = "constant off by one"
STATEMENT = "statement deleted"
BARRIER = "barrier, fence or wait deleted"
NARROWED_BARRIER = "barrier narrowed"
ATOMIC = "atomic made plain"
MASK = "mask of lanes weakened"
SCOPE = "scope of a fence weakened"
SHUFFLE = "shuffle distance or width"
STAGE = "stage or parity shifted"
NEGATED = "condition negated"
DROPPED = "condition dropped"
NARROWED = "type narrowed"
NARROWED_TO_32 = "int64 narrowed to int32"  # shows beyond 2^31 alone
UNCLEARED = "accumulator not cleared"
ASSIGNMENT = "+= and = swapped"
EXTREME = "min and max swapped"
FUSED = "fma without its addend"
SIGN = "sign dropped"
SCALAR = "scalar ignored or applied twice"

# functors of mutant_points.hpp
FUNCTORS = {
    "<": "Less", "<=": "LessEqual", ">": "Greater", ">=": "GreaterEqual", "==": "Equal", "!=": "NotEqual",
    "+": "Plus", "-": "Minus", "*": "Times", "/": "Over", "%": "Modulo", "&": "And", "|": "Or", "^": "Xor",
    "<<": "Left", ">>": "Right",
}  # fmt: skip
# The negation is NEGATED's, where the comparison is a condition.
RELATIONS = {
    "<": ["<=", "!="], "<=": ["<", "=="], ">": [">=", "!="], ">=": [">", "=="], "==": ["<=", ">="],
    "!=": ["<", ">"],
}  # fmt: skip
ARITHMETICS = {
    "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"], "^": ["&"],
    "<<": [">>"], ">>": ["<<"],
}  # fmt: skip
UPDATES = {sign + "=": functor for sign, functor in FUNCTORS.items() if sign not in RELATIONS}

EXTREMES = {
    "min": "max", "max": "min", "fmin": "fmax", "fmax": "fmin", "fminf": "fmaxf", "fmaxf": "fminf",
}  # fmt: skip
FMAS = {"fma", "fmaf", "__fmaf_rn", "__fma_rn"}
# Read, change and write apart: what an atomic does, done plainly.
ATOMICS = {
    "atomicAdd": "*p = old + v", "atomicSub": "*p = old - v", "atomicExch": "*p = v",
    "atomicMin": "*p = v < old ? v : old", "atomicMax": "*p = old < v ? v : old", "atomicAnd": "*p = old & v",
    "atomicOr": "*p = old | v", "atomicXor": "*p = old ^ v",
}  # fmt: skip
SCOPES = {"__threadfence": "__threadfence_block", "__threadfence_system": "__threadfence"}
SHUFFLES = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"}
VOTES = {"__ballot_sync", "__any_sync", "__all_sync", "__syncwarp", "__match_any_sync", "__match_all_sync"}
SCALARS = {"alpha", "beta"}
# Calls that order what threads or copies do; and numbers that choose a buffer or its turn.
WAITS = r"sync|barrier|fence|wait|commit|arrive"
STAGES = r"stage|parity|phase|slot|buffer"
# Calls whose absence nobody judges.
REMARKS = {"explain", "say"}
