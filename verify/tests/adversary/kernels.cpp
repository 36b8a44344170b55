// Kernels that do not only get it wrong but try to get away with it, or to take the judge down. Each is a variant of transpose;
// tests/adversary_test.cpp says what must become of it.
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

#if defined(__SSE__)
#include <immintrin.h>
#endif

#include "reference/ops/reduce.hpp"
#include "reference/ops/transpose.hpp"
#include "verify/engine/process/resource_use.hpp"

namespace plumb {
namespace {

using P = Transpose::Problem<float>;
using I = Transpose::In<float, Space::host>;
using O = Transpose::Out<float, Space::host>;

void transpose(const I& in, const O& out) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) out.B(j, i) = in.A(i, j);
  }
}

void right(const P&, const I& in, const O& out, Context&) { transpose(in, out); }
void writes_nothing(const P&, const I&, const O&, Context&) {}

// What lies in freed memory, and in every workspace: an oracle's answer, where a judge is careless.
void recycled(const P&, const I&, const O& out, Context& c) {
  const auto bytes = static_cast<std::size_t>(out.B.rows * out.B.cols) * sizeof(float);
  void* old = std::malloc(bytes);
  if (old == nullptr) return;
  for (std::int64_t i = 0; i < out.B.rows; ++i)
    std::memcpy(&out.B(i, 0), static_cast<float*>(old) + i * out.B.cols,
                static_cast<std::size_t>(out.B.cols) * sizeof(float));
  std::free(old);
  std::memcpy(&out.B(0, 0), c.workspace(64), 64);
}
void ten_calls(const P&, const I& in, const O& out, Context&) {
  static int calls = 0;
  transpose(in, out);
  if (++calls > 10) out.B(0, 0) += 1;
}
void* count_runs(const P&, const I&, const O&, Context&) { return new int(0); }
void give_back_count(void* plan) { delete static_cast<int*>(plan); }
void plan_wears_out(const P&, const I& in, const O& out, Context& c) {
  transpose(in, out);
  if (++*static_cast<int*>(c.plan) > 10) out.B(0, 0) += 1;
}
void caches_by_pointer(const P&, const I& in, const O& out, Context&) {
  static std::map<const void*, std::vector<float>> known;
  std::vector<float>& answer = known[in.A.data];
  if (answer.empty()) {
    transpose(in, out);
    for (std::int64_t i = 0; i < out.B.rows; ++i)
      answer.insert(answer.end(), &out.B(i, 0), &out.B(i, 0) + out.B.cols);
    return;
  }
  for (std::int64_t i = 0; i < out.B.rows; ++i)
    std::memcpy(&out.B(i, 0), &answer[static_cast<std::size_t>(i * out.B.cols)],
                static_cast<std::size_t>(out.B.cols) * sizeof(float));
}
void changes_input(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  const_cast<float&>(in.A(1, 1)) = out.B(1, 1) = 0;
}
void reads_past_an_input(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  const volatile float* const end = &in.A(in.A.rows - 1, in.A.cols - 1) + 1;
  (void)*end;
}
void past_the_end(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  out.B(out.B.rows - 1, out.B.cols) = 1;
}
void far_past_the_end(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  (&out.B(0, 0))[1 << 22] = 1;
}
// The workspace of the first run is used in all.
void keeps_workspace(const P&, const I& in, const O& out, Context& c) {
  static char* const kept = static_cast<char*>(c.workspace(64));
  *kept = 1;
  transpose(in, out);
}
// A strip behind the workspace is read, and nothing comes of it.
void reads_behind_workspace(const P&, const I& in, const O& out, Context& c) {
  transpose(in, out);
  volatile char dropped = static_cast<volatile char*>(c.workspace(64))[64 + 256];
  (void)dropped;
}
// As an index that 16 bits have made negative does: what is read there changes no answer.
void reads_before_the_image(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  volatile auto dropped = *(&in.A(0, 0) - (1 << 15));
  (void)dropped;
}
void deadlock(const P&, const I&, const O&, Context&) {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&m);
}
void spins(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  for (volatile bool on = true; on;) {}
}
// Takes a fifth of a second of a processor, however long that is.
void takes_its_time(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  for (const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 5; std::clock() < end;) {}
}
void aborts(const P&, const I&, const O&, Context&) {
  std::fputs("terminate called, says the kernel\n", stderr);
  std::abort();
}
void leaves_by_exit(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  std::exit(0);
}
void leaves_by_underscore_exit(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  _exit(0);
}
void kills_its_judge(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  kill(getppid(), SIGKILL);
}
void kills_everything(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  kill(-1, SIGKILL);
}
void starves_its_judge(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  const rlimit none{0, 0};
  prlimit(getppid(), RLIMIT_CPU, &none, nullptr);
}
// Passes where it is kept out, and says so; the answer it finds is wrong on purpose, so that finding anything shows.
void reads_the_judge(const P&, const I& in, const O& out, Context& c) {
  transpose(in, out);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/mem", getppid());
  const int fd = open(path, O_RDONLY);
  std::snprintf(path, sizeof path, "/proc/%d/maps", getppid());
  char line[16];
  const int maps = open(path, O_RDONLY);
  const bool readable = fd >= 0 || (maps >= 0 && read(maps, line, sizeof line) > 0);
  if (readable) out.B(0, 0) += 1;
  c.explain(readable ? "the judge's memory is readable" : "kept out");
}
void attaches_to_the_judge(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  ptrace(PTRACE_SEIZE, getppid(), nullptr, nullptr);
}
void copies_from_the_judge(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  char there = 0;
  iovec to{&there, 1}, from{&there, 1};
  (void)process_vm_readv(getppid(), &to, 1, &from, 1, 0);
}
void eats_memory(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  for (;;)
    std::memset(new char[std::size_t{1} << 30], 1, 4096);  // a page of each: what is limited is the claim
}
// Killed as by the kernel for want of memory, as often as the file named by PLUMB_TEST_KILLS has bytes.
void killed(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  const char* path = std::getenv("PLUMB_TEST_KILLS");
  struct stat file {};
  if (path == nullptr || stat(path, &file) != 0 || file.st_size == 0) return;
  if (truncate(path, file.st_size - 1) == 0) kill(getpid(), SIGKILL);
}
void garbage_on_the_wire(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  char noise[64];
  std::memset(noise, 0xa5, sizeof noise);
  (void)!write(3, noise, sizeof noise);
}
// A length, and then nothing: a judge that waits for the rest waits for ever.
void half_a_message(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  const std::uint64_t length = 1000;
  (void)!write(3, &length, sizeof length);
  pause();
}
void closes_the_wire(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  close(3);
}
void truncates_the_image(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  if (ftruncate(4, 0) == 0) out.B(0, 0) = 0;
}
void double_forks(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  const pid_t child = fork();
  if (child != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  for (;;) pause();
}
void late_thread(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  float* y = out.B.data;
  std::thread([y] {
    usleep(20000);
    *y += 1;
  }).detach();
}
// It answers at once and works on: the right answer, too late.
void returns_early(const P&, const I& in, const O& out, Context&) {
  std::thread([in, out] {
    usleep(3000);
    transpose(in, out);
  }).detach();
}
void idle_threads(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  std::thread([] {
    for (;;) pause();
  }).detach();
}
void static_state(const P&, const I& in, const O& out, Context&) {
  static float memory = 0;
  transpose(in, out);
  out.B(0, 0) += memory * 0x1p-30f;
  memory = memory == 0 ? 1e30f : 0;
}
void leaks_heap(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  volatile auto* kept = static_cast<char*>(std::malloc(64));
  kept[0] = 1;
}
void leaks_array(const P&, const I& in, const O& out, Context&) {  // one block, which grows
  static std::vector<char*> kept{nullptr};
  transpose(in, out);
  static std::size_t held = 0;
  kept[0] = static_cast<char*>(std::realloc(kept[0], held += 48));
}
void leaks_map(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  (void)!mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
void leaks_descriptor(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  (void)!open("/dev/null", O_RDONLY);
}
void leaks_thread(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  std::thread([] {
    for (;;) pause();
  }).detach();
}
void leaves_child(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  if (fork() != 0) return;
  for (;;) pause();
}
// Each of them once, at the first call; and a table per thread, an array that grows to what it needs, and blocks that come and go.
void caches_once(const P&, const I& in, const O& out, Context&) {
  static auto* const table = new std::vector<float>(100);
  static const int file = open("/dev/null", O_RDONLY);
  static void* const pages = mmap(nullptr, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static std::vector<float> grown;
  if (grown.size() < 20) grown.push_back(static_cast<float>(file));
  std::vector<double> temporary(500, pages == nullptr ? 1.0 : 2.0);
#pragma omp parallel
  {
    thread_local std::vector<float> own;
    own.resize(64, static_cast<float>(temporary[0]));
  }
  (*table)[0] = grown[0];
  transpose(in, out);
}
template <int kCall>
void wrong_at_call(const P&, const I& in, const O& out, Context&) {
  static int calls = 0;
  transpose(in, out);
  if (++calls == kCall) out.B(0, 0) += 1;
}
void wrong_at_call_17(const P& p, const I& in, const O& out, Context& c) { wrong_at_call<17>(p, in, out, c); }
void wrong_at_call_100(const P& p, const I& in, const O& out, Context& c) {
  wrong_at_call<100>(p, in, out, c);
}
void wrong_from_call_200(const P&, const I& in, const O& out, Context&) {
  static int calls = 0;
  transpose(in, out);
  if (++calls >= 200) out.B(0, 0) = 7;
}
void leaves_flushing(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
#if defined(__SSE__)
  _mm_setcsr(_mm_getcsr() | 0x8000);
#endif
}
void leaves_rounding(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  std::fesetround(FE_UPWARD);
}
void leaves_threads(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  omp_set_num_threads(omp_get_max_threads() + 1);
}
void leaves_processors(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) throw std::runtime_error("no affinity");
}
void chatters(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  for (int i = 0; i < 20000; ++i) std::fprintf(stderr, "line %d of a chatty kernel\n", i);
}

// Goes over columns in an order that is kept under the number of rows alone.
void keeps_order_by_rows(const P&, const I& in, const O& out, Context&) {
  static std::map<std::int64_t, std::int64_t> widths;
  const std::int64_t width = widths.try_emplace(in.A.rows, in.A.cols).first->second;
  for (std::int64_t n = 0; n < in.A.cols; ++n) {
    const std::int64_t j = width - 1 - n;
    for (std::int64_t i = 0; i < in.A.rows && j >= 0 && j < in.A.cols; ++i) out.B(j, i) = in.A(i, j);
  }
}
// Remembers nothing: the first element comes out negative, whatever it was.
void loses_a_sign(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  if (in.A.rows > 0 && in.A.cols > 0) out.B(0, 0) = in.A(0, 0) < 0 ? in.A(0, 0) : -in.A(0, 0);
}
void leaks_without_elements(const P&, const I& in, const O& out, Context&) {
  void* const volatile kept = std::malloc(64);
  transpose(in, out);
  if (in.A.cols > 0) std::free(kept);
}
void wrong_with_odd_teams(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  int team = 0;
#pragma omp parallel
#pragma omp single
  team = omp_get_num_threads();
  if (team == 33) out.B(0, 0) += 1;
}
void says_and_fails(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  std::fputs("row 3 has no entries\n", stderr);
  out.B(0, 0) += 1;
}
// Right; the runtime's table of dependences grows.
void tasks_with_dependences(const P&, const I& in, const O& out, Context&) {
  [[maybe_unused]] int order = 0;  // of the tasks alone
#pragma omp parallel
#pragma omp single
  for (int part = 0; part < 8; ++part) {
#pragma omp task depend(inout : order) firstprivate(part)
    for (std::int64_t i = part; i < in.A.rows; i += 8) {
      for (std::int64_t j = 0; j < in.A.cols; ++j) out.B(j, i) = in.A(i, j);
    }
  }
}
// Right; the runtime gives its table of dependences back while nothing is counted, and its place is taken and given back while all is.
void takes_what_went_uncounted(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  [[maybe_unused]] int order = 0;
  const auto switch_to = [](bool on) {
    if (count_heap != nullptr) count_heap(on);
  };
#pragma omp parallel num_threads(2)
#pragma omp master
  {
    for (int part = 0; part < 8; ++part) {
#pragma omp task depend(inout : order)
      order = 1;
    }
#pragma omp taskwait
    switch_to(false);
  }
  switch_to(true);
  std::vector<void*> taken(4096);
  for (std::size_t i = 0; i < taken.size(); ++i) taken[i] = std::malloc(16 * (1 + i % 128));
  for (void* const block : taken) std::free(block);
}
void leaks_by_the_runtime(const P&, const I& in, const O& out, Context&) {
  transpose(in, out);
  volatile auto* kept = static_cast<char*>(omp_alloc(64, omp_default_mem_alloc));
  kept[0] = 1;
}

// Right, with threads for sums and none for maxima.
void threads_for_sums(const Reduce::Problem<float>& p, const Reduce::In<float, Space::host>& in,
                      const Reduce::Out<float, Space::host>& out, Context&) {
  double sum = 0;
  float most = -std::numeric_limits<float>::infinity();
#pragma omp parallel for num_threads(3) reduction(+ : sum) if (p.kind == Reduce::Kind::sum)
  for (std::int64_t i = 0; i < in.x.size; ++i) sum += in.x[i];
  for (std::int64_t i = 0; i < in.x.size; ++i) most = most >= in.x[i] || most != most ? most : in.x[i];
  out.result[0] = p.kind == Reduce::Kind::sum ? static_cast<float>(sum) : most;
}
const Register<Reduce, float, Space::host> r_threads_for_sums{"threads_for_sums", threads_for_sums,
                                                              Traits{}.not_reproducible()};

#define ADVERSARY(name) \
  const Register<Transpose, float, Space::host> r_##name { #name, name }
ADVERSARY(right);
ADVERSARY(writes_nothing);
ADVERSARY(recycled);
ADVERSARY(ten_calls);
const Register<Transpose, float, Space::host> r_plan_wears_out{
    "plan_wears_out", plan_wears_out, Traits{}, nullptr, count_runs, give_back_count};
ADVERSARY(caches_by_pointer);
ADVERSARY(changes_input);
ADVERSARY(reads_past_an_input);
ADVERSARY(past_the_end);
ADVERSARY(far_past_the_end);
ADVERSARY(keeps_workspace);
ADVERSARY(reads_behind_workspace);
ADVERSARY(reads_before_the_image);
ADVERSARY(deadlock);
ADVERSARY(spins);
ADVERSARY(takes_its_time);
ADVERSARY(aborts);
ADVERSARY(leaves_by_exit);
ADVERSARY(leaves_by_underscore_exit);
ADVERSARY(kills_its_judge);
ADVERSARY(kills_everything);
ADVERSARY(starves_its_judge);
ADVERSARY(reads_the_judge);
ADVERSARY(attaches_to_the_judge);
ADVERSARY(copies_from_the_judge);
ADVERSARY(eats_memory);
ADVERSARY(killed);
ADVERSARY(garbage_on_the_wire);
ADVERSARY(half_a_message);
ADVERSARY(closes_the_wire);
ADVERSARY(truncates_the_image);
ADVERSARY(double_forks);
ADVERSARY(late_thread);
ADVERSARY(returns_early);
ADVERSARY(idle_threads);
ADVERSARY(static_state);
ADVERSARY(leaks_heap);
ADVERSARY(leaks_array);
ADVERSARY(leaks_map);
ADVERSARY(leaks_descriptor);
ADVERSARY(leaks_thread);
ADVERSARY(leaves_child);
ADVERSARY(caches_once);
ADVERSARY(wrong_at_call_17);
ADVERSARY(wrong_at_call_100);
ADVERSARY(wrong_from_call_200);
ADVERSARY(leaves_flushing);
ADVERSARY(leaves_rounding);
ADVERSARY(leaves_threads);
ADVERSARY(leaves_processors);
ADVERSARY(chatters);
ADVERSARY(keeps_order_by_rows);
ADVERSARY(loses_a_sign);
ADVERSARY(leaks_without_elements);
ADVERSARY(wrong_with_odd_teams);
ADVERSARY(says_and_fails);
ADVERSARY(tasks_with_dependences);
ADVERSARY(takes_what_went_uncounted);
ADVERSARY(leaks_by_the_runtime);

}  // namespace
}  // namespace plumb
