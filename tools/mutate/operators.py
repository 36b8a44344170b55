"""What is mutated into what: the tables behind places.py, and the names under which the report counts."""

RELATIONAL = "relational operator replaced"
LOGICAL = "and, or swapped"
ARITHMETIC = "arithmetic operator replaced"
INDEX = "index off by one"
BOUND = "bound off by one"
FURTHER = "loop runs once too often"
CONSTANT = "constant off by one"
STATEMENT = "statement deleted"
BARRIER = "barrier, fence or wait deleted"
NARROWED_BARRIER = "barrier narrowed"
MOVED_BARRIER = "barrier moved into a branch"
ATOMIC = "atomic made plain"
VOLATILE = "volatile access made plain"
MASK = "mask of lanes weakened"
SCOPE = "scope of a fence or an atomic weakened"
ORDER = "order of memory weakened"
LOAD = "load's cache operator weakened"
COPY = "asynchronous copy or its barrier changed"
PTX = "inline PTX changed"
OPENMP = "OpenMP clause or directive removed"
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
for _name in (*ATOMICS, "atomicCAS", "atomicInc", "atomicDec"):
    SCOPES |= {_name: _name + "_block", _name + "_system": _name}
ORDERS = {
    "acquire": ["relaxed"], "release": ["relaxed"], "seq_cst": ["relaxed"],
    "acq_rel": ["acquire", "release"],
}  # fmt: skip
# Methods of std:: and cuda:: atomics, seq_cst where no order is named, with the arguments before it.
ORDERED = {
    "load": 0, "store": 1, "exchange": 1, "fetch_add": 1, "fetch_sub": 1, "fetch_and": 1, "fetch_or": 1,
    "fetch_xor": 1, "fetch_min": 1, "fetch_max": 1, "compare_exchange_strong": 2, "compare_exchange_weak": 2,
}  # fmt: skip
LOADS = {"__ldcg": "__ldg", "__ldcv": "__ldg"}
SHUFFLES = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"}
VOTES = {"__ballot_sync", "__any_sync", "__all_sync", "__syncwarp", "__match_any_sync", "__match_all_sync"}
# Calls that become another one with the first so many of their arguments.
LESSER = {
    "mbarrier_arrive_expect": ("mbarrier_arrive", 1), "cp_async16_zfill": ("cp_async16", 2),
    "cp_async_zfill": ("cp_async", 2), "named_barrier_sync": ("named_barrier_arrive", 2),
}  # fmt: skip
# Arguments of asynchronous copies and their barriers: place, and by how much it is wrong; "flip": parity.
COUNTS = {
    "mbarrier_init": {1: 1}, "mbarrier_arrive_expect": {1: 16}, "mbarrier_wait": {1: "flip"},
    "cp_async16_zfill": {2: 4}, "cp_async_zfill": {2: 4}, "bulk_copy": {2: 16}, "bulk_copy_once": {2: 16},
    "named_barrier_sync": {0: 1, 1: 32}, "named_barrier_arrive": {0: 1, 1: 32},
}  # fmt: skip
# Waits for all but the last N groups of copies. One group fewer left waits longer and is no fault.
GROUP_WAITS = {"cp_async_wait", "pipeline_consumer_wait_prior", "__pipeline_wait_prior"}
SCALARS = {"alpha", "beta"}
# Calls that order what threads or copies do; and numbers that choose a buffer or its turn.
WAITS = r"sync|barrier|fence|wait|commit|arrive"
STAGES = r"stage|parity|phase|slot|buffer"
# Calls that say something, or pause: nobody judges what, how long, nor whether.
REMARKS = {"explain", "say", "snprintf", "printf", "__nanosleep"}
# Arguments that ask for memory: more of it is no fault. Without places: all of them.
CAPACITIES = {"workspace": None, "workspace_of": None, "reserve": None, "launch": {3}}

# Inline PTX: what becomes what in the text of an asm statement. A statement that orders is deleted, too.
PTX_ORDERS = r"\b(?:bar|barrier|fence|membar|mbarrier|wait|commit)\b|wait_group|commit_group"
PTX_CHANGES = [
    (r"\.release\b", ".relaxed"), (r"\.acquire\b", ".relaxed"), (r"\.acq_rel\b", ".relaxed"),
    (r"\.sys\b", ".gpu"), (r"\.gpu\b", ".cta"), (r"membar\.gl\b", "membar.cta"),
    (r"membar\.sys\b", "membar.gl"),
    (r"\.volatile\b", ""), (r"fence\.sc\b", "fence.acq_rel"), (r"wait_group(\s+)(\d+)", "+1"),
]  # fmt: skip
