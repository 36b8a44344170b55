/* A libcuda.so.1 whose device is memory of the host, for tests of all that lies above the driver. Work that is given to a stream lies there until
 * somebody waits for that stream or for the context, so that a test decides what is done when; a copy of memory that is not pinned waits, as CUDA's does. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct work {
  void (*run)(struct work*);
  void *to, *argument;
  const void* from;
  void (*call)(void*);
  uint32_t word;
  size_t bytes, rows, to_pitch, from_pitch;
  struct stream* other; /* of a wait for an event: all that this stream had been given before `until` */
  long until;
} work;

typedef struct stream {
  work queue[4096];
  long given, done;
} stream;

typedef struct event {
  stream* recorded_in;
  long at;
} event;

typedef struct {
  size_t from_x, from_y;
  int from_kind;
  const void* from_host;
  uint64_t from_device;
  void* from_array;
  size_t from_pitch, to_x, to_y;
  int to_kind;
  void* to_host;
  uint64_t to_device;
  void* to_array;
  size_t to_pitch, row_bytes, rows;
} copy_2d;

static stream default_stream, *streams[16] = {&default_stream};
static int stream_count = 1, sticky;
static void* pinned[64];
static size_t pinned_bytes[64];

#define UNLESS_BROKEN \
  if (sticky != 0) return sticky

static stream* of(void* handle) { return handle != NULL ? handle : &default_stream; }

static void drain(stream* s, long until) {
  while (s->done < until) {
    work* const w = &s->queue[s->done++ % 4096];
    w->run(w);
  }
}

static work* give(void* handle, void (*run)(work*)) {
  stream* const s = of(handle);
  if (s->given - s->done == 4096) drain(s, s->done + 1);
  work* const w = &s->queue[s->given++ % 4096];
  memset(w, 0, sizeof *w);
  w->run = run;
  return w;
}

static void do_copy(work* w) {
  for (size_t i = 0; i < w->rows; ++i)
    memcpy((char*)w->to + i * w->to_pitch, (const char*)w->from + i * w->from_pitch, w->bytes);
}
static void do_set(work* w) {
  for (size_t i = 0; i < w->bytes; ++i) ((uint32_t*)w->to)[i] = w->word;
}
static void do_set_bytes(work* w) { memset(w->to, (int)w->word, w->bytes); }
static void do_call(work* w) { w->call(w->argument); }
static void do_wait(work* w) { drain(w->other, w->until); }

static int is_pinned(const void* memory) {
  for (int i = 0; i < 64; ++i)
    if (pinned[i] != NULL && (const char*)memory >= (char*)pinned[i] &&
        (const char*)memory < (char*)pinned[i] + pinned_bytes[i])
      return 1;
  return 0;
}

static int copy(void* to, const void* from, size_t bytes, const void* host, void* handle) {
  UNLESS_BROKEN;
  work* const w = give(handle, do_copy);
  w->to = to, w->from = from, w->bytes = bytes, w->rows = 1;
  if (!is_pinned(host)) drain(of(handle), of(handle)->given);
  return sticky;
}

int cuInit(unsigned flags) { return (int)flags; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) {
  return *count = getenv("FAKE_CUDA_DEVICES") != NULL ? atoi(getenv("FAKE_CUDA_DEVICES")) : 1, 0;
}
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int length, int device) {
  return strncpy(name, "fake device", (size_t)length), device;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return *value = attribute == 75 ? 9 : 0, device;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) { return *bytes = (size_t)1 << 30, device; }
int cuDevicePrimaryCtxRetain(void** context, int device) { return *context = &sticky, device; }
int cuCtxSetCurrent(void* context) { return context == &sticky ? sticky : 201; }
int cuCtxGetCurrent(void** context) { return *context = &sticky, 0; }
int cuCtxGetDevice(int* device) { return *device = 0; }
int cuGetErrorName(int error, const char** name) {
  return *name = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL, 0;
}
int cuGetErrorString(int error, const char** text) {
  return *text = error == 700 ? "an illegal memory access was encountered" : NULL, 0;
}

int cuCtxSynchronize(void) {
  for (int i = 0; i < stream_count; ++i) drain(streams[i], streams[i]->given);
  return sticky;
}
int cuMemAlloc_v2(uint64_t* memory, size_t bytes) {
  UNLESS_BROKEN;
  void* const made = bytes < ((size_t)1 << 30) ? aligned_alloc(512, (bytes + 511) / 512 * 512) : NULL;
  *memory = (uint64_t)(uintptr_t)made;
  return made != NULL ? 0 : 2;
}
int cuMemFree_v2(uint64_t memory) {
  cuCtxSynchronize();
  free((void*)(uintptr_t)memory);
  return sticky;
}
int cuMemGetInfo_v2(size_t* bytes, size_t* all) { return *bytes = *all = (size_t)1 << 20, sticky; }
int cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  (void)flags;
  for (int i = 0; i < 64; ++i)
    if (pinned[i] == NULL) {
      pinned_bytes[i] = bytes;
      return *memory = pinned[i] = malloc(bytes), 0;
    }
  return 2;
}
int cuMemFreeHost(void* memory) {
  for (int i = 0; i < 64; ++i)
    if (pinned[i] == memory) pinned[i] = NULL;
  free(memory);
  return 0;
}
int cuMemsetD8Async(uint64_t at, unsigned char byte, size_t count, void* handle) {
  UNLESS_BROKEN;
  work* const w = give(handle, do_set_bytes);
  w->to = (void*)(uintptr_t)at, w->word = byte, w->bytes = count;
  return 0;
}
int cuMemsetD32Async(uint64_t at, unsigned word, size_t count, void* handle) {
  UNLESS_BROKEN;
  work* const w = give(handle, do_set);
  w->to = (void*)(uintptr_t)at, w->word = word, w->bytes = count;
  return at % 4 == 0 ? 0 : 1;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* handle) {
  return copy((void*)(uintptr_t)to, from, bytes, from, handle);
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* handle) {
  return copy(to, (void*)(uintptr_t)from, bytes, to, handle);
}
int cuMemcpy2DAsync_v2(const copy_2d* c, void* handle) {
  UNLESS_BROKEN;
  work* const w = give(handle, do_copy);
  w->to = (void*)(uintptr_t)c->to_device, w->to_pitch = c->to_pitch;
  w->from = c->from_kind == 1 ? c->from_host : (void*)(uintptr_t)c->from_device,
  w->from_pitch = c->from_pitch;
  w->bytes = c->row_bytes, w->rows = c->rows;
  if (c->from_kind == 1) drain(of(handle), of(handle)->given);
  return c->to_pitch < c->row_bytes || c->from_pitch < c->row_bytes;
}
int cuStreamCreate(void** handle, unsigned flags) {
  (void)flags;
  return *handle = streams[stream_count++] = calloc(1, sizeof(stream)), 0;
}
int cuStreamSynchronize(void* handle) { return drain(of(handle), of(handle)->given), sticky; }
int cuLaunchHostFunc(void* handle, void (*call)(void*), void* argument) {
  UNLESS_BROKEN;
  work* const w = give(handle, do_call);
  w->call = call, w->argument = argument;
  return 0;
}
int cuEventCreate(void** handle, unsigned flags) {
  (void)flags;
  return *handle = calloc(1, sizeof(event)), 0;
}
int cuEventRecord(void* handle, void* stream_handle) {
  event* const e = handle;
  e->recorded_in = of(stream_handle), e->at = e->recorded_in->given;
  return sticky;
}
int cuStreamWaitEvent(void* stream_handle, void* handle, unsigned flags) {
  (void)flags;
  work* const w = give(stream_handle, do_wait);
  w->other = ((event*)handle)->recorded_in, w->until = ((event*)handle)->at;
  return sticky;
}

/* Of this driver alone: every later call fails with this error, as after an access that a kernel should not have made. */
void fakeBreak(int error) { sticky = error; }
