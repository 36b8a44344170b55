/* What a worker in another language gives libplumbline.so, beside its variants (gpu/plugin/plugin_abi.h): the CPU executor that it runs kernels on. */
#ifndef PLUMB_WORKER_ABI_H
#define PLUMB_WORKER_ABI_H
#include <stdint.h>

/* An array of a call: memory of the host, from its first element to its last. */
typedef struct plumb_executor_array {
  const char* name;
  const void* data;
  int64_t bytes; /* gaps between rows included, which may be out of reach */
  int64_t rows;
  int64_t row_bytes;
  int64_t step_bytes;  /* from a row to the next */
  int32_t initialised; /* 0: it holds poison, and nothing wrote it */
  int32_t writable;
} plumb_executor_array;

typedef struct plumb_executor_run {
  uint64_t schedule;   /* the order of threads follows from it */
  int64_t max_threads; /* of all launches together */
  int32_t check;       /* every access, for races, bounds and initialisation */
  int32_t count;
  const plumb_executor_array* arrays;
} plumb_executor_run;

typedef struct plumb_executor {
  void (*begin)(
      const plumb_executor_run*); /* before each run of a variant; nothing of it is valid afterwards */
  const char* (*next_finding)(
      void); /* of the run, in order; NULL: no more. The text is valid until the next call */
  const char* (*why_void)(void); /* why the run says nothing about the kernel, or NULL */
} plumb_executor;
#endif
