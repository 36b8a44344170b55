// Graphs made node by node, and all graphs run. A graph runs its nodes each in a stream of its own, after those it depends on and no others.
#include "gpu/simt/host/api/runtime/graphs.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "gpu/simt/host/api/runtime/conditional_graphs.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/memory/freed.hpp"
#include "gpu/simt/race/calls.hpp"
#include "gpu/simt/state.hpp"

using plumb::simt::add_knowledge;
using plumb::simt::answer;
using plumb::simt::current;
using plumb::simt::enter_engine;
using plumb::simt::Here;
using plumb::simt::knowledge_of;
using plumb::simt::Operation;
using plumb::simt::queue;
using Knowledge = std::vector<int>;  // launches that happened before, by stream
using NodeList = std::vector<CUgraphNode_st*>;

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

cudaError_t plumb::simt::conditional_node(Here here) {
  if (current().schedule.thread != nullptr) not_offered("conditional nodes of graphs", here);
  call_not_offered("conditional nodes of graphs", here);
  return answer(cudaErrorNotSupported);
}

// ---- made node by node ----

namespace {

std::set<cudaGraphExec_t>& g_execs = *new std::set<cudaGraphExec_t>;  // outlives the program's own statics

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
    current().streams.names[made.key.get()] = "a node of a graph";
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
  if (!plumb::simt::has_addresses(*p)) return answer(cudaErrorInvalidValue);
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
  if (!plumb::simt::has_address(*p)) return answer(cudaErrorInvalidValue);
  return add_node(node, graph, after, count, cudaGraphNodeTypeMemset, plumb::simt::fill_operation(*p, here));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                 std::size_t count, const cudaHostNodeParams* p) {
  const cudaHostNodeParams what = *p;
  return add_node(node, graph, after, count, cudaGraphNodeTypeHost, [what](const void* key) {
    plumb::simt::call_in_stream(key, [&] { what.fn(what.userData); });
  });
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     std::size_t count, cudaMemAllocNodeParams* p, Here here) {
  plumb::simt::begin_by_itself();
  const auto lock = enter_engine();
  p->dptr = plumb::simt::memory_of_graphs(p->bytesize);
  if (p->dptr == nullptr) return answer(cudaErrorMemoryAllocation);
  return add_node(node, graph, after, count, cudaGraphNodeTypeMemAlloc,
                  plumb::simt::give_operation(p->dptr, here));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    std::size_t count, void* p, Here here) {
  const auto lock = enter_engine();
  if (!plumb::simt::is_plain_device(p)) return answer(cudaErrorInvalidValue);
  return add_node(node, graph, after, count, cudaGraphNodeTypeMemFree, plumb::simt::take_operation(p, here));
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

// ---- run ----

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
  return queue(stream, cudaGraphNodeTypeGraph, [exec, calls = plumb::simt::calls_here()](const void* key) {
    const plumb::simt::GraphRun run(calls);
    run_nodes(*exec, key);
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const auto lock = enter_engine();
  if (g_execs.erase(exec) == 0) return answer(cudaErrorInvalidValue);
  // Its keys stay taken, as a destroyed stream's do.
  for (auto& n : exec->nodes) (void)n.key.release();
  delete exec;
  return cudaSuccess;
}
