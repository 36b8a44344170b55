// Streams, events and graphs of host_api.hpp. Work runs when it is queued, which is one legal moment; what it
// is ordered after is CUDA's: the stream's earlier work, what the host has waited for, events waited for, and
// the legacy default stream's rule. A graph runs its nodes each in a stream of its own, after those it
// depends on and no others.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "gpu/simt/host/host_side.hpp"
#include "gpu/simt/state.hpp"

using plumb::simt::answer;
using plumb::simt::current;
using plumb::simt::enter_engine;
using plumb::simt::Here;
using plumb::simt::Operation;
using Knowledge = std::vector<int>;  // launches that happened before, by stream
using NodeList = std::vector<CUgraphNode_st*>;

struct CUgraphNode_st {
  cudaGraphNodeType type;
  Operation operation;
  NodeList after;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  CUgraphNode_st* add(cudaGraphNodeType type, Operation operation, NodeList after) {
    nodes.emplace_back(new CUgraphNode_st{type, std::move(operation), std::move(after)});
    return nodes.back().get();
  }
};
struct CUgraphExec_st {
  struct Node {
    cudaGraphNodeType type;
    Operation operation;
    std::vector<std::size_t> after;
    const CUgraphNode_st* source;
    std::unique_ptr<char> key;  // the stream it runs in
  };
  std::vector<Node> nodes;  // each after those it depends on
};

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
std::set<cudaGraphExec_t>& g_execs = *new std::set<cudaGraphExec_t>;
int g_captures = 0;     // streams under capture
const char g_host = 0;  // the executor's key of what the host has waited for

// One for all of the host's threads: that orders more than a device does.
CUstream_st& per_thread() {
  static CUstream_st* const stream = [] {
    auto* s = new CUstream_st;
    g_streams.insert(s);
    g_blocking.insert(s);
    return s;
  }();
  return *stream;
}

/// The stream as an object: null for the legacy default stream.
CUstream_st* object_of(cudaStream_t stream) {
  if (stream == cudaStreamLegacy) return nullptr;
  return stream == cudaStreamPerThread ? &per_thread() : stream;
}

void host_learns(const Knowledge& knows) { plumb::simt::add_knowledge(&g_host, knows); }

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

bool is_stream(cudaStream_t stream) {
  const CUstream_st* s = object_of(stream);
  return s == nullptr || g_streams.count(const_cast<cudaStream_t>(s)) != 0;
}

void* key_of(cudaStream_t stream) { return object_of(stream); }

void enter_stream(const void* stream) {
  add_knowledge(stream, knowledge_of(&g_host));
  if (stream == nullptr) {
    for (const void* other : g_blocking) add_knowledge(nullptr, knowledge_of(other));
  } else if (g_blocking.count(stream) != 0) {
    add_knowledge(stream, knowledge_of(nullptr));
  }
}

cudaError_t queue(cudaStream_t stream, cudaGraphNodeType type, Operation operation) {
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

void* launch_key(void* stream) {
  const auto s = static_cast<cudaStream_t>(stream);
  return s == cudaStreamLegacy || s == cudaStreamPerThread ? key_of(s) : stream;
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

cudaError_t wait_for(cudaStream_t stream) {
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
    if (captured) return queue(stream, cudaGraphNodeTypeHost, [=](const void*) { function(data); });
    if (host_status() != cudaSuccess) return host_status();
  }
  function(data);  // outside of the lock: it may wait for another of the host's threads
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
  }
  callback(stream, status, data);
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

// ---- graphs: made by capture ----

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

// ---- graphs: made node by node ----

namespace {

bool owns(cudaGraph_t graph, const CUgraphNode_st* node) {
  return std::any_of(graph->nodes.begin(), graph->nodes.end(),
                     [&](const auto& n) { return n.get() == node; });
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                     std::size_t count, cudaGraphNodeType type, Operation operation) {
  if (node == nullptr || graph == nullptr || (after == nullptr && count > 0))
    return answer(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i)
    if (!owns(graph, after[i])) return answer(cudaErrorInvalidValue);
  *node = graph->add(type, std::move(operation), NodeList(after, after + count));
  return cudaSuccess;
}

cudaError_t kernel_node(const cudaKernelNodeParams* p, Here here, Operation* operation) {
  const cudaError_t bad = p->kernelParams == nullptr && p->extra != nullptr
                              ? cudaErrorNotSupported
                              : plumb::simt::check_kernel(p->func);
  if (bad != cudaSuccess) return answer(bad);
  *operation = plumb::simt::kernel_operation(p->func, p->gridDim, p->blockDim, p->kernelParams,
                                             p->sharedMemBytes, false, here);
  return cudaSuccess;
}

// The nodes of a graph, each after those it depends on; nothing where they form a circle.
std::vector<const CUgraphNode_st*> sorted(const CUgraph_st& graph) {
  std::vector<const CUgraphNode_st*> out;
  while (out.size() < graph.nodes.size()) {
    const std::size_t before = out.size();
    const auto done = [&](const CUgraphNode_st* n) {
      return std::find(out.begin(), out.end(), n) != out.end();
    };
    for (const auto& n : graph.nodes)
      if (!done(n.get()) && std::all_of(n->after.begin(), n->after.end(), done)) out.push_back(n.get());
    if (out.size() == before) return {};
  }
  return out;
}

std::vector<CUgraphExec_st::Node> compiled(const CUgraph_st& graph) {
  const std::vector<const CUgraphNode_st*> order = sorted(graph);
  std::vector<CUgraphExec_st::Node> out;
  for (const CUgraphNode_st* n : order) {
    CUgraphExec_st::Node made{n->type, n->operation, {}, n, std::make_unique<char>()};
    for (const CUgraphNode_st* d : n->after)
      made.after.push_back(
          static_cast<std::size_t>(std::find(order.begin(), order.end(), d) - order.begin()));
    out.push_back(std::move(made));
  }
  return out;
}

void run_nodes(CUgraphExec_st& exec, const void* stream) {
  // A graph's launch also comes after the last one of the same graph: its nodes' streams know that.
  for (const auto& n : exec.nodes) add_knowledge(stream, knowledge_of(n.key.get()));
  const Knowledge start = knowledge_of(stream);
  for (auto& n : exec.nodes) {
    const void* key = n.key.get();
    add_knowledge(key, start);
    for (const std::size_t d : n.after) add_knowledge(key, knowledge_of(exec.nodes[d].key.get()));
    n.operation(key);
    if (current().run.is_stopped) return;
  }
  for (const auto& n : exec.nodes) add_knowledge(stream, knowledge_of(n.key.get()));
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  *graph = new CUgraph_st;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  *clone = new CUgraph_st;
  std::map<const CUgraphNode_st*, CUgraphNode_st*> copy_of;
  for (const auto& n : graph->nodes) copy_of[n.get()] = (*clone)->add(n->type, n->operation, n->after);
  for (const auto& n : (*clone)->nodes)
    for (CUgraphNode_st*& d : n->after) d = copy_of.at(d);
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (nodes != nullptr)
    for (std::size_t i = 0; i < std::min(*count, graph->nodes.size()); ++i) nodes[i] = graph->nodes[i].get();
  *count = graph->nodes.size();
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->type;
  return cudaSuccess;
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!owns(graph, from[i]) || !owns(graph, to[i])) return answer(cudaErrorInvalidValue);
    to[i]->after.push_back(from[i]);
  }
  return cudaSuccess;
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaKernelNodeParams* p, Here here) {
  const auto lock = enter_engine();
  Operation operation;
  const cudaError_t bad = kernel_node(p, here, &operation);
  return bad != cudaSuccess
             ? bad
             : add_node(node, graph, after, count, cudaGraphNodeTypeKernel, std::move(operation));
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaMemcpy3DParms* p, Here here) {
  if (p->srcArray != nullptr || p->dstArray != nullptr) return answer(cudaErrorNotSupported);
  return add_node(node, graph, after, count, cudaGraphNodeTypeMemcpy, plumb::simt::copy_operation(*p, here));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind, Here here) {
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), bytes, bytes, 1);
  p.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
  p.extent = make_cudaExtent(bytes, 1, 1);
  p.kind = kind;
  return cudaGraphAddMemcpyNode(node, graph, after, count, &p, here);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaMemsetParams* p, Here here) {
  if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) return answer(cudaErrorInvalidValue);
  return add_node(node, graph, after, count, cudaGraphNodeTypeMemset, plumb::simt::fill_operation(*p, here));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                 std::size_t count, const cudaHostNodeParams* p) {
  const cudaHostNodeParams what = *p;
  return add_node(node, graph, after, count, cudaGraphNodeTypeHost,
                  [what](const void*) { what.fn(what.userData); });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  std::size_t count) {
  return add_node(node, graph, after, count, cudaGraphNodeTypeEmpty, [](const void*) {});
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       std::size_t count, cudaGraph_t child) {
  auto exec = std::make_shared<CUgraphExec_st>();
  exec->nodes = compiled(*child);
  return add_node(node, graph, after, count, cudaGraphNodeTypeGraph,
                  [exec](const void* stream) { run_nodes(*exec, stream); });
}

// ---- graphs: run ----

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  const auto lock = enter_engine();
  std::vector<CUgraphExec_st::Node> nodes = compiled(*graph);
  if (nodes.size() != graph->nodes.size()) return answer(cudaErrorInvalidValue);
  *exec = new CUgraphExec_st{std::move(nodes)};
  g_execs.insert(*exec);
  return cudaSuccess;
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p, Here here) {
  const auto lock = enter_engine();
  if (g_execs.count(exec) == 0) return answer(cudaErrorInvalidValue);
  for (auto& n : exec->nodes)
    if (n.source == node && n.type == cudaGraphNodeTypeKernel) return kernel_node(p, here, &n.operation);
  return answer(cudaErrorInvalidValue);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  const auto lock = enter_engine();
  if (g_execs.count(exec) == 0) return answer(cudaErrorInvalidValue);
  std::vector<CUgraphExec_st::Node> nodes = compiled(*graph);
  bool same = nodes.size() == exec->nodes.size();
  for (std::size_t i = 0; same && i < nodes.size(); ++i)
    same = nodes[i].type == exec->nodes[i].type && nodes[i].after == exec->nodes[i].after;
  *info = {same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
  if (!same) return answer(cudaErrorGraphExecUpdateFailure);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    exec->nodes[i].operation = std::move(nodes[i].operation);
    exec->nodes[i].source = nodes[i].source;
  }
  return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* error,
                                cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t e = cudaGraphExecUpdate(exec, graph, &info);
  if (error != nullptr) *error = nullptr;
  if (result != nullptr) *result = info.result;
  return e;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  plumb::simt::begin_by_itself();
  const auto lock = enter_engine();
  if (g_execs.count(exec) == 0) return answer(cudaErrorInvalidValue);
  return queue(stream, cudaGraphNodeTypeGraph, [exec](const void* key) { run_nodes(*exec, key); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const auto lock = enter_engine();
  if (g_execs.erase(exec) == 0) return answer(cudaErrorInvalidValue);
  // Its keys stay taken, as a destroyed stream's do.
  for (auto& n : exec->nodes) (void)n.key.release();
  delete exec;
  return cudaSuccess;
}
