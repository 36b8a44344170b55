// Streams, events and capture. Work runs when it is queued, which is one legal moment; what it is ordered after is CUDA's: the stream's
// earlier work, what the host has waited for, events waited for, and the legacy default stream's rule.
#include "gpu/simt/host/api/runtime/streams.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <vector>

#include "gpu/simt/host/api/runtime/devices.hpp"  // cudaDeviceSynchronize
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/state.hpp"

using plumb::simt::answer;
using plumb::simt::call_in_stream;
using plumb::simt::current;
using plumb::simt::enter_engine;
using plumb::simt::enter_stream;
using plumb::simt::Operation;
using Knowledge = std::vector<int>;  // launches that happened before, by stream
using NodeList = std::vector<CUgraphNode_st*>;

namespace {

struct Capture {
  cudaStream_t origin;
  std::unique_ptr<CUgraph_st> graph;
};

}  // namespace

struct CUstream_st {
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  std::shared_ptr<Capture> capture;
  NodeList last;  // what the next captured operation comes after
};
struct CUevent_st {
  unsigned flags = cudaEventDefault;
  bool recorded = false;
  Knowledge knows;
  std::chrono::steady_clock::time_point when;
  std::shared_ptr<Capture> capture;
  NodeList last;
};

namespace {

std::set<cudaStream_t>& g_streams = *new std::set<cudaStream_t>;  // outlive the program's own statics
std::set<const void*>& g_blocking = *new std::set<const void*>;
std::set<cudaEvent_t>& g_events = *new std::set<cudaEvent_t>;
int g_captures = 0;  // streams under capture

// One for all of the host's threads: that orders more than a device does.
CUstream_st& per_thread() {
  static CUstream_st* const stream = [] {
    auto* s = new CUstream_st;
    g_streams.insert(s);
    g_blocking.insert(s);
    current().streams.names[s] = "the per-thread default stream";
    return s;
  }();
  return *stream;
}

bool g_default_is_per_thread = false;

/// The stream as an object: null for the legacy default stream.
CUstream_st* object_of(cudaStream_t stream) {
  if (stream == cudaStreamLegacy) return nullptr;
  const bool is_per_thread = stream == cudaStreamPerThread || (stream == nullptr && g_default_is_per_thread);
  return is_per_thread ? &per_thread() : stream;
}

// Of the runtime's calls in a kernel those that wait for work, or order it by events.
void must_be_host_code(const char* what) {
  if (current().schedule.thread != nullptr)
    plumb::simt::not_offered(what, plumb::simt::launch_under_way().here);
}

void host_learns(const Knowledge& knows) { plumb::simt::add_knowledge(plumb::simt::host_key(), knows); }

void append(NodeList& list, const NodeList& more) {
  for (CUgraphNode_st* n : more)
    if (std::find(list.begin(), list.end(), n) == list.end()) list.push_back(n);
}

// The legacy stream may not be used while a blocking stream is captured, since it would wait for it.
bool legacy_is_barred(const CUstream_st* stream) {
  if (stream != nullptr || g_captures == 0) return false;
  return std::any_of(g_streams.begin(), g_streams.end(), [](const CUstream_st* s) {
    return s->capture != nullptr && (s->flags & cudaStreamNonBlocking) == 0;
  });
}

void leave_capture(const std::shared_ptr<Capture>& capture) {
  for (CUstream_st* s : g_streams) {
    if (s->capture != capture) continue;
    s->capture = nullptr;
    s->last.clear();
    --g_captures;
  }
}

}  // namespace

namespace plumb::simt {

bool use_per_thread_default_stream() { return g_default_is_per_thread = true; }

bool is_stream(cudaStream_t stream) {
  const CUstream_st* s = object_of(stream);
  return s == nullptr || g_streams.count(const_cast<cudaStream_t>(s)) != 0;
}

void* make_stream() {
  auto* const made = new CUstream_st;
  made->flags = cudaStreamNonBlocking;
  const auto lock = enter_engine();
  g_streams.insert(made);
  return made;
}

void enter_stream(const void* stream) {
  add_knowledge(stream, knowledge_of(host_key()));
  if (stream == nullptr) {
    for (const void* other : g_blocking) add_knowledge(nullptr, knowledge_of(other));
  } else if (g_blocking.count(stream) != 0) {
    add_knowledge(stream, knowledge_of(nullptr));
  }
}

void call_in_stream(const void* stream, const std::function<void()>& function) {
  {
    const auto lock = enter_engine();
    host_learns(knowledge_of(stream));
    begin_host_function(stream);
  }
  function();
  const auto lock = enter_engine();
  end_host_function();
}

cudaError_t queue(cudaStream_t stream, cudaGraphNodeType type, Operation operation) {
  if (current().schedule.thread != nullptr) {
    launch_nested(stream, [operation = std::move(operation)](void* key) {
      enter_stream(key);
      operation(key);
    });
    return cudaSuccess;
  }
  if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  CUstream_st* s = object_of(stream);
  if (legacy_is_barred(s)) return answer(cudaErrorStreamCaptureImplicit);
  if (s != nullptr && s->capture != nullptr) {
    s->last = {s->capture->graph->add(type, std::move(operation), s->last)};
    return cudaSuccess;
  }
  if (current().run.is_stopped) return host_status();
  enter_stream(s);
  operation(s);
  return host_status();
}

void* launch_key(void* stream) { return object_of(static_cast<cudaStream_t>(stream)); }

bool may_overlap(const void* stream) {
  const auto* s = static_cast<const CUstream_st*>(stream);
  return s != nullptr && g_streams.size() > 1 && g_streams.count(const_cast<cudaStream_t>(s)) != 0;
}

bool is_captured(void* stream) {
  if (g_captures == 0) return false;
  auto* s = static_cast<CUstream_st*>(stream);
  return s == nullptr ? legacy_is_barred(s) : g_streams.count(s) != 0 && s->capture != nullptr;
}

void capture_launch(void* stream, std::function<void(void*)> launch) {
  const auto lock = enter_engine();
  queue(static_cast<cudaStream_t>(stream), cudaGraphNodeTypeKernel,
        [launch = std::move(launch)](const void* key) { launch(const_cast<void*>(key)); });
}

Held held() {
  const auto lock = enter_engine();
  return {static_cast<std::int64_t>(g_streams.size()), static_cast<std::int64_t>(g_events.size()),
          held_arrays()};
}

cudaError_t wait_for(cudaStream_t stream) {
  must_be_host_code("a kernel that waits for a stream");
  if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  CUstream_st* s = object_of(stream);
  if ((s != nullptr && s->capture != nullptr) || legacy_is_barred(s))
    return answer(cudaErrorStreamCaptureUnsupported);
  begin_by_itself();
  enter_stream(s);
  host_learns(knowledge_of(s));
  return host_status();
}

}  // namespace plumb::simt

using plumb::simt::add_knowledge;
using plumb::simt::host_status;
using plumb::simt::is_stream;
using plumb::simt::knowledge_of;
using plumb::simt::queue;
using plumb::simt::wait_for;

// ---- streams ----

cudaError_t cudaDeviceSynchronize() {
  must_be_host_code("cudaDeviceSynchronize in a kernel, which CUDA 12 dropped");
  const auto lock = enter_engine();
  if (g_captures > 0) return answer(cudaErrorStreamCaptureUnsupported);
  const std::vector<const void*> all = current().streams.keys;
  for (const void* s : all) host_learns(knowledge_of(s));
  return host_status();
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  plumb::simt::begin_by_itself();
  const auto lock = enter_engine();
  if ((flags & ~cudaStreamNonBlocking) != 0) return answer(cudaErrorInvalidValue);
  *stream = new CUstream_st;
  (*stream)->flags = flags;
  (*stream)->priority = std::clamp(priority, -5, 0);
  g_streams.insert(*stream);
  if (flags == cudaStreamDefault) g_blocking.insert(*stream);
  static int made = 0;
  current().streams.names[*stream] =
      fmt::format("stream #{}{}", ++made, flags == cudaStreamDefault ? "" : " (non-blocking)");
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const auto lock = enter_engine();
  if (g_streams.erase(stream) == 0) return answer(cudaErrorInvalidResourceHandle);
  if (stream->capture != nullptr) --g_captures;
  // Its address stays taken, since a later stream is another one; the null stream still waits for its work.
  if (g_blocking.erase(stream) != 0) add_knowledge(nullptr, knowledge_of(stream));
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const auto lock = enter_engine();
  return wait_for(stream);
}
// All that was queued has run, so a query finds it done; the host then knows it, as after a wait.
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  const auto lock = enter_engine();
  if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  const CUstream_st* s = object_of(stream);
  *flags = s != nullptr ? s->flags : cudaStreamDefault;
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  const auto lock = enter_engine();
  if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  const CUstream_st* s = object_of(stream);
  *priority = s != nullptr ? s->priority : 0;
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  plumb::simt::begin_by_itself();
  if (function == nullptr) return answer(cudaErrorInvalidValue);
  bool captured = false;
  {
    const auto lock = enter_engine();
    if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
    const CUstream_st* s = object_of(stream);
    captured = s != nullptr && s->capture != nullptr;
    if (captured)
      return queue(stream, cudaGraphNodeTypeHost,
                   [=](const void* key) { call_in_stream(key, [&] { function(data); }); });
    if (host_status() != cudaSuccess) return host_status();
    enter_stream(s);
  }
  // outside of the lock: it may wait for another of the host's threads
  call_in_stream(object_of(stream), [&] { function(data); });
  return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  plumb::simt::begin_by_itself();
  if (callback == nullptr || flags != 0) return answer(cudaErrorInvalidValue);
  cudaError_t status = cudaSuccess;
  {
    const auto lock = enter_engine();
    if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
    const CUstream_st* s = object_of(stream);
    if (s != nullptr && s->capture != nullptr) return answer(cudaErrorStreamCaptureUnsupported);
    status = host_status();
    enter_stream(s);
  }
  call_in_stream(object_of(stream), [&] { callback(stream, status, data); });
  return cudaSuccess;
}

// ---- events ----

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const auto lock = enter_engine();
  *event = new CUevent_st;
  (*event)->flags = flags;
  g_events.insert(*event);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const auto lock = enter_engine();
  if (g_events.erase(event) == 0) return answer(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  must_be_host_code("a kernel that records an event");
  plumb::simt::begin_by_itself();
  const auto lock = enter_engine();
  if (g_events.count(event) == 0 || !is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  CUstream_st* s = object_of(stream);
  if (legacy_is_barred(s)) return answer(cudaErrorStreamCaptureImplicit);
  event->recorded = true;
  event->when = std::chrono::steady_clock::now();
  event->capture = s != nullptr ? s->capture : nullptr;
  event->last = s != nullptr ? s->last : NodeList{};
  if (event->capture != nullptr) return cudaSuccess;
  plumb::simt::enter_stream(s);
  event->knows = knowledge_of(s);
  return host_status();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  must_be_host_code("a kernel whose stream waits for an event");
  plumb::simt::begin_by_itself();
  const auto lock = enter_engine();
  if (g_events.count(event) == 0 || !is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  CUstream_st* s = object_of(stream);
  if (event->capture != nullptr && event->capture->graph != nullptr) {  // the stream joins the capture
    if (s == nullptr) return answer(cudaErrorStreamCaptureImplicit);
    if (s->capture != nullptr && s->capture != event->capture)
      return answer(cudaErrorStreamCaptureUnsupported);
    if (s->capture == nullptr) ++g_captures;
    s->capture = event->capture;
    append(s->last, event->last);
    return cudaSuccess;
  }
  if (s != nullptr && s->capture != nullptr) return answer(cudaErrorStreamCaptureUnsupported);
  plumb::simt::enter_stream(s);
  add_knowledge(s, event->knows);
  return host_status();
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const auto lock = enter_engine();
  if (g_events.count(event) == 0) return answer(cudaErrorInvalidResourceHandle);
  if (event->capture != nullptr && event->capture->graph != nullptr)
    return answer(cudaErrorStreamCaptureUnsupported);
  if (event->recorded) host_learns(event->knows);
  return host_status();
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const auto lock = enter_engine();
  for (const cudaEvent_t e : {start, end}) {
    if (g_events.count(e) == 0 || !e->recorded || (e->flags & cudaEventDisableTiming) != 0)
      return answer(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->when - start->when).count();
  return cudaSuccess;
}

// ---- capture ----

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  plumb::simt::begin_by_itself();
  const auto lock = enter_engine();
  CUstream_st* s = object_of(stream);
  if (s == nullptr) return answer(cudaErrorStreamCaptureUnsupported);
  if (!is_stream(s)) return answer(cudaErrorInvalidResourceHandle);
  if (s->capture != nullptr) return answer(cudaErrorStreamCaptureUnsupported);
  s->capture = std::make_shared<Capture>();
  s->capture->origin = s;
  s->capture->graph = std::make_unique<CUgraph_st>();
  ++g_captures;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const auto lock = enter_engine();
  *graph = nullptr;
  CUstream_st* s = object_of(stream);
  if (s == nullptr || !is_stream(s) || s->capture == nullptr) return answer(cudaErrorInvalidValue);
  const std::shared_ptr<Capture> capture = s->capture;
  if (capture->origin != s) return answer(cudaErrorStreamCaptureUnmatched);
  // Whatever other streams did must lead back to the origin.
  NodeList joined = s->last;
  for (std::size_t i = 0; i < joined.size(); ++i) append(joined, NodeList(joined[i]->after));
  bool unjoined = false;
  for (const CUstream_st* other : g_streams) {
    if (other == s || other->capture != capture) continue;
    for (CUgraphNode_st* n : other->last)
      unjoined |= std::find(joined.begin(), joined.end(), n) == joined.end();
  }
  leave_capture(capture);
  std::unique_ptr<CUgraph_st> made = std::move(capture->graph);
  if (unjoined) return answer(cudaErrorStreamCaptureUnjoined);
  *graph = made.release();
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const auto lock = enter_engine();
  const CUstream_st* s = object_of(stream);
  if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  *status =
      s != nullptr && s->capture != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
