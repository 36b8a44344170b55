/* The CPU executor's modules of PTX for a program in any language: load a module, hand it memory, launch, ask for findings. libplumb_simt_ptx.so
 * has these functions. One thread at a time. An array is memory of the caller's, on the host, which kernels use in place. */
#ifndef PLUMB_SIMT_PTX_H
#define PLUMB_SIMT_PTX_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Begins a run: arrays and findings are forgotten. `options`: JSON with any of "seed" (0), "chip" (90), "check" (true), "strict" (false),
 * "max_threads" (0: any number, of all launches together); null: none. Returns 0, or 2 with the reason in plumb_ptx_error(). */
int plumb_ptx_begin(const char* options);
/* What the last call that failed says. */
const char* plumb_ptx_error(void);

/* Loads the text of a module; `name`: the file that findings call its lines by; null: a copy in the build folder. Null: see plumb_ptx_error().
 * What was compiled before is not compiled again; modules outlive runs. */
void* plumb_ptx_load(const char* text, const char* name);
/* The module's kernels as JSON: [{"name", "threads", "parameters": [{"name", "type", "bytes", "offset", "pointer", "read"}]}]. */
const char* plumb_ptx_kernels(void* module);
/* Memory of a variable of the module; null where there is none of that name. */
void* plumb_ptx_global(void* module, const char* name, size_t* bytes);

/* Makes [data, data + bytes) an array: an access outside of every array is a finding, a read of what nothing wrote where not `initialised`, and
 * a write where not `writable`. plumb_ptx_remove() makes it none. */
void plumb_ptx_array(const char* name, const void* data, size_t bytes, int initialised, int writable);
void plumb_ptx_remove(const void* data);

struct plumb_ptx_shape {
  unsigned grid[3], block[3];
  unsigned cluster[3]; /* 0 0 0: none said */
  size_t shared_bytes; /* dynamic */
  int cooperative;
};
/* Launches a kernel and returns when it has ended; `arguments`: a pointer to each parameter's value, in order. 0; 1: a finding stopped it, or the
 * launch was refused; 2: no such kernel, see plumb_ptx_error(); 3: the executor ran out of something, or the launch
 * is of more threads than the run may have, see plumb_ptx_error(). */
int plumb_ptx_launch(void* module, const char* kernel, const struct plumb_ptx_shape* shape, void** arguments);

/* Findings so far, taken out: a JSON list, as `tools/plumb simt --json=FILE` writes it, each with "described" for people. The text stays until
 * the next call. */
const char* plumb_ptx_findings(void);

#ifdef __cplusplus
}
#endif
#endif
