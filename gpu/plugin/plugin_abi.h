/* What a shared library has to export so that `verify --plugin` judges its kernels: plain C99, no Plumbline library to link, and
 * no header beside this one. Copy it into your project. The contract of every operator (formula, shapes, special values) is the
 * docstring in reference/ops/<op>.hpp; its arrays and numbers reach you by the names used there ("A.row_ptr", "x", "alpha").
 *
 *   static const char *run(const plumb_call *call) { ... return NULL; }
 *   static const plumb_variant kVariants[] = {{sizeof(plumb_variant), "spmv", "01_mine", PLUMB_F32, PLUMB_HOST, ...}};
 *   static const plumb_plugin kPlugin = {PLUMB_PLUGIN_VERSION, sizeof(plumb_variant), "mine", 1, kVariants};
 *   PLUMB_EXPORT const plumb_plugin *plumb_plugin_entry(void) { return &kPlugin; }
 *
 * Every safeguard applies: child processes, fences, poison, input checks, repeated runs. */
#ifndef PLUMB_PLUGIN_ABI_H
#define PLUMB_PLUGIN_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_PLUGIN_VERSION 2 /* a library that was built for version 1 is judged as before */
#define PLUMB_PLUGIN_SYMBOL "plumb_plugin_entry"
#define PLUMB_EXPORT __attribute__((visibility("default")))

/* How an element is stored, and the type of a case whose inputs and outputs are stored so. Those of 16 and 8 bits are bits: IEEE's
 * binary16, bfloat16, and OCP's E4M3 (no infinities, one NaN) and E5M2. Scalars of their cases are fp32. */
enum {
  PLUMB_F32 = 0,
  PLUMB_F64 = 1,
  PLUMB_I32 = 2,
  PLUMB_TYPE_F16 = 3,
  PLUMB_TYPE_BF16 = 4,
  PLUMB_TYPE_E4M3 = 5,
  PLUMB_TYPE_E5M2 = 6
};
/* The type of a case whose outputs are stored otherwise than its inputs: PLUMB_MIXED(PLUMB_TYPE_E4M3, PLUMB_TYPE_BF16) is "e4m3_bf16". */
#define PLUMB_MIXED(in, out) ((in) | (((out) + 1) << 8))

/* Where a variant runs, and so where its arrays lie. */
enum { PLUMB_HOST = 0, PLUMB_CUDA = 1 };

/* What a variant computes with: the error bound follows from it, and an undeclared reduction fails. */
enum {
  PLUMB_NATIVE = 0,      /* the operator's own type, any order of summation */
  PLUMB_PAIRWISE = 1,    /* own type, pairwise order */
  PLUMB_COMPENSATED = 2, /* own type, Kahan or Neumaier */
  PLUMB_DOUBLED = 3,     /* twice the working precision, rounded once */
  PLUMB_TF32 = 4,        /* operands rounded to 11 bits, fp32 sums */
  PLUMB_TF32X3 = 5,      /* error-corrected tf32 */
  PLUMB_BF16 = 6,        /* operands rounded to 8 bits, fp32 sums */
  PLUMB_FP16 = 7,        /* operands rounded to 11 bits with fp16 range, fp32 sums */
  PLUMB_WINOGRAD = 8,    /* own type, minimal filtering F(2x2, 3x3): conv2d */
  PLUMB_FLUSHED = 9, /* own type; additions flush subnormals to 0, as fp32 atomicAdd in global memory does */
  PLUMB_BY_LSE = 10, /* own type; log_softmax as x - (max + log sum) */
  PLUMB_ONE_PASS = 11, /* own type; a variance as the mean of squares less the square of the mean */
  PLUMB_FP8_FAST = 12  /* sums of 8-bit products stay in tensor cores, in the few bits that those keep */
};

#define PLUMB_SUMS_IN(format) ((format) + 1)

/* Flags of a variant. */
enum {
  PLUMB_NOT_REPRODUCIBLE = 1, /* same input, other bits: atomics. Without it the claim is tested. */
  PLUMB_FINITE_ONLY =
      2 /* NaN and infinities are not promised as the contract has them: such cases are `unsupported`. */
};

/* One array. Element (i, j) is at data[i * stride[0] + j * stride[1]]. Inputs must not be written. */
typedef struct plumb_array {
  const char* name;
  int32_t dtype;     /* how its elements are stored */
  int32_t rank;      /* 1 to 4; those of today's operators are vectors and matrices */
  int64_t shape[4];  /* elements; 1 from `rank` on */
  int64_t stride[4]; /* elements from one index to the next; 0 from `rank` on */
  int64_t ld;        /* of a matrix stride[0], elements from row to row; of a vector 1 */
  int32_t is_output;
  int32_t reserved;
  void* data; /* host memory, or device memory for PLUMB_CUDA */
} plumb_array;

/* One number of the problem: "alpha", and for every sparse matrix A "A.rows", "A.cols", "A.nnz". */
typedef struct plumb_scalar {
  const char* name;
  double value;
} plumb_scalar;

/* What a call may ask for. */
typedef struct plumb_context {
  uint32_t size; /* of this struct, in the program that calls */
  uint32_t reserved;
  void* stream; /* cudaStream_t for PLUMB_CUDA: launch here and nowhere else; NULL on the host */
  /* Poisoned, fenced memory of `bytes`, 256-byte aligned, where the arrays lie; freed by the caller. NULL when there is none. */
  void* (*workspace)(struct plumb_context*, int64_t bytes);
  /* Says in the report what was chosen, and why. The text is copied. */
  void (*explain)(struct plumb_context*, const char* text);
  void* owner; /* the caller's */
} plumb_context;

typedef struct plumb_call {
  uint32_t size; /* of this struct */
  int32_t dtype; /* of the case: PLUMB_F32, PLUMB_TYPE_BF16, PLUMB_MIXED(...) */
  const char* op;
  const plumb_array* arrays; /* inputs, then outputs, in the order of the contract */
  const plumb_scalar* scalars;
  int32_t array_count;
  int32_t scalar_count;
  plumb_context* context;
} plumb_call;

typedef struct plumb_variant {
  uint32_t size;    /* sizeof(plumb_variant) */
  int32_t dtype;    /* PLUMB_F32, PLUMB_TYPE_BF16, PLUMB_MIXED(...): one entry per type */
  const char* op;   /* "spmv" */
  const char* name; /* "01_mine", listed as user/01_mine: letters, digits, '_', '-', '.' */
  int32_t device;   /* PLUMB_HOST or PLUMB_CUDA */
  int32_t arithmetic;
  uint32_t flags;
  int32_t alignment; /* bytes every base pointer and ld must be a multiple of; 0: the element size */
  int32_t min_sm;    /* compute capability * 10; 0: any */
  /* 0: sums are kept in fp32, in fp64 for PLUMB_F64. PLUMB_SUMS_IN(PLUMB_TYPE_F16): in that format, and the bound follows from it. */
  int32_t accumulate;
  /* NULL: everything is supported. Returns NULL for yes, or the reason why not. */
  const char* (*supports)(const plumb_call*);
  /* Returns NULL, or what went wrong: the verdict is then `error`, with that text. */
  const char* (*run)(const plumb_call*);
} plumb_variant;

typedef struct plumb_plugin {
  uint32_t version;      /* PLUMB_PLUGIN_VERSION */
  uint32_t variant_size; /* sizeof(plumb_variant) */
  const char* name;
  int32_t count;
  const plumb_variant* variants;
} plumb_plugin;

/* The one exported function. The result is static. */
typedef const plumb_plugin* (*plumb_plugin_function)(void);

/* Helpers, for C and CUDA alike. */
static inline const plumb_array* plumb_find_array(const plumb_call* call, const char* name) {
  for (int32_t i = 0; i < call->array_count; ++i) {
    const char *a = call->arrays[i].name, *b = name;
    while (*a != '\0' && *a == *b) ++a, ++b;
    if (*a == *b) return &call->arrays[i];
  }
  return NULL;
}

static inline double plumb_find_scalar(const plumb_call* call, const char* name, double otherwise) {
  for (int32_t i = 0; i < call->scalar_count; ++i) {
    const char *a = call->scalars[i].name, *b = name;
    while (*a != '\0' && *a == *b) ++a, ++b;
    if (*a == *b) return call->scalars[i].value;
  }
  return otherwise;
}

#ifdef __cplusplus
}
#endif
#endif
