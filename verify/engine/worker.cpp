#include "verify/engine/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <omp.h>

#include "reference/core/error.hpp"
#include "reference/core/resource_error.hpp"
#include "verify/engine/confinement.hpp"
#include "verify/engine/plugin_host.hpp"
#include "verify/engine/simt_device.hpp"

namespace plumb {
namespace {

constexpr int kWire = 3, kBlock = 4;
constexpr std::uint64_t kLongest = std::uint64_t{1} << 24;  // bytes of a message
constexpr const char* kBrokenWire = "protocol error: the variant wrote to the control socket";
constexpr const char* kSettle = "settle";  // in place of an operator's name

// ---- the wire: a length, then fields ----

class Message {
 public:
  void put(const void* data, std::size_t bytes) {
    put_number(static_cast<std::int64_t>(bytes));
    append(data, bytes);
  }
  void put(const std::string& text) { put(text.data(), text.size()); }
  void put_number(std::int64_t v) { append(&v, sizeof v); }
  void put_real(double v) { append(&v, sizeof v); }

  [[nodiscard]] std::string text() {
    const auto n = static_cast<std::size_t>(number());
    if (n > bytes_.size() - at_) throw Error(kBrokenWire);
    std::string out(reinterpret_cast<const char*>(bytes_.data()) + at_, n);
    at_ += n;
    return out;
  }
  [[nodiscard]] std::int64_t number() { return take<std::int64_t>(); }
  [[nodiscard]] double real() { return take<double>(); }

  // What came in so far: a whole message is taken out of it. False: more is to come. Throws Error when it can be no message.
  [[nodiscard]] bool take_from(const std::vector<std::byte>& inbox) {
    std::uint64_t length = 0;
    if (inbox.size() < sizeof length) return false;
    std::memcpy(&length, inbox.data(), sizeof length);
    if (length > kLongest || inbox.size() > sizeof length + length) throw Error(kBrokenWire);
    if (inbox.size() < sizeof length + length) return false;
    bytes_.assign(inbox.begin() + sizeof length, inbox.end());
    at_ = 0;
    return true;
  }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }

  // Both return false when the other side is gone.
  [[nodiscard]] bool send(int fd) const {
    const auto length = static_cast<std::uint64_t>(bytes_.size());
    return write_all(fd, &length, sizeof length) && write_all(fd, bytes_.data(), bytes_.size());
  }
  [[nodiscard]] bool receive(int fd) {
    std::uint64_t length = 0;
    if (!read_all(fd, &length, sizeof length) || length > kLongest) return false;
    bytes_.resize(length);
    at_ = 0;
    return read_all(fd, bytes_.data(), length);
  }

 private:
  template <class T>
  T take() {
    if (bytes_.size() - at_ < sizeof(T)) throw Error(kBrokenWire);
    T v;
    std::memcpy(&v, bytes_.data() + at_, sizeof v);
    at_ += sizeof v;
    return v;
  }
  void append(const void* data, std::size_t n) {
    const auto* p = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), p, p + n);
  }
  static bool write_all(int fd, const void* data, std::size_t n) {
    const auto* p = static_cast<const char*>(data);
    while (n > 0) {
      const ssize_t done = ::send(fd, p, n, MSG_NOSIGNAL);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      p += done, n -= static_cast<std::size_t>(done);
    }
    return true;
  }
  static bool read_all(int fd, void* data, std::size_t n) {
    auto* p = static_cast<char*>(data);
    while (n > 0) {
      const ssize_t done = ::read(fd, p, n);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      p += done, n -= static_cast<std::size_t>(done);
    }
    return true;
  }

  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

Message encode(const RunRequest& r) {
  Message m;
  m.put(r.op), m.put(r.variant);
  m.put_number(static_cast<int>(r.dtype)), m.put_number(static_cast<int>(r.device)),
      m.put_number(static_cast<int>(r.poison));
  m.put(r.views.data(), r.views.size());
  m.put_number(r.image_bytes);
  m.put(r.plugin);
  m.put_number(static_cast<std::int64_t>(r.schedule));
  m.put_number(r.check_accesses ? 1 : 0);
  m.put_number(static_cast<std::int64_t>(r.disturbance));
  m.put_number(r.min_sm), m.put_number(r.watch);
  m.put_number(r.ticket);
  m.put_number(r.timing.samples), m.put_number(r.timing.warm), m.put_number(r.timing.cold),
      m.put_real(r.timing.budget);
  m.put_number(static_cast<std::int64_t>(r.timing.outputs.size()));
  for (const ByteRange& o : r.timing.outputs) m.put_number(o.offset), m.put_number(o.bytes);
  return m;
}

RunRequest decode_request(Message& m) {
  RunRequest r;
  r.op = m.text(), r.variant = m.text();
  r.dtype = static_cast<Dtype>(m.number()), r.device = static_cast<Device>(m.number()),
  r.poison = static_cast<Poison>(m.number());
  const std::string views = m.text();
  r.views.resize(views.size());
  std::memcpy(r.views.data(), views.data(), views.size());
  r.image_bytes = m.number();
  r.plugin = m.text();
  r.schedule = static_cast<std::uint64_t>(m.number());
  r.check_accesses = m.number() != 0;
  r.disturbance = static_cast<std::uint64_t>(m.number());
  r.min_sm = static_cast<int>(m.number()), r.watch = m.number() != 0;
  r.ticket = m.number();
  r.timing.samples = static_cast<int>(m.number()), r.timing.warm = m.number() != 0,
  r.timing.cold = m.number() != 0;
  r.timing.budget = m.real();
  for (std::int64_t n = m.number(); n > 0; --n) {
    const std::int64_t offset = m.number();
    r.timing.outputs.push_back({offset, m.number()});
  }
  return r;
}

Message encode(const RunReply& r) {
  Message m;
  m.put_number(static_cast<int>(r.status));
  m.put(r.text), m.put(r.chosen), m.put(r.trespass);
  m.put_number(static_cast<std::int64_t>(r.findings.size()));
  for (const std::string& f : r.findings) m.put(f);
  m.put_real(r.seconds);
  m.put_number(r.threads);
  m.put_number(r.ticket);
  m.put_real(r.timing.prepare);
  for (const std::vector<double>* times : {&r.timing.warm, &r.timing.cold}) {
    m.put_number(static_cast<std::int64_t>(times->size()));
    for (const double t : *times) m.put_real(t);
  }
  m.put_number(static_cast<std::int64_t>(r.timing.kernels.size()));
  for (const KernelUse& k : r.timing.kernels) {
    m.put(k.name);
    for (const std::int64_t v : {std::int64_t{k.registers}, std::int64_t{k.shared_bytes},
                                 std::int64_t{k.local_bytes}, std::int64_t{k.threads}, k.blocks})
      m.put_number(v);
  }
  return m;
}

RunReply decode_reply(Message& m) {
  RunReply r;
  r.status = static_cast<RunReply::Status>(m.number());
  r.text = m.text(), r.chosen = m.text(), r.trespass = m.text();
  for (std::int64_t n = m.number(); n > 0; --n) r.findings.push_back(m.text());
  r.seconds = m.real();
  r.threads = static_cast<int>(m.number());
  r.ticket = m.number();
  r.timing.prepare = m.real();
  for (std::vector<double>* times : {&r.timing.warm, &r.timing.cold}) {
    for (std::int64_t n = m.number(); n > 0; --n) times->push_back(m.real());
  }
  for (std::int64_t n = m.number(); n > 0; --n) {
    KernelUse& k = r.timing.kernels.emplace_back();
    k.name = m.text();
    for (int* v : {&k.registers, &k.shared_bytes, &k.local_bytes, &k.threads})
      *v = static_cast<int>(m.number());
    k.blocks = m.number();
  }
  if (!m.at_end() || r.status > RunReply::Status::no_resource) throw Error(kBrokenWire);
  return r;
}

// What a variant may call back: the owner of a Context.
struct RunState {
  Backend* backend;
  Poison poison;
  std::string chosen;
  // What the first run asked for is handed out again in every later one: allocation and poisoning are not what is timed.
  std::vector<std::pair<std::int64_t, void*>> blocks;
  std::size_t at = 0;
  bool replaying = false;
};

void* allocate_workspace(Context& c, std::int64_t bytes) {
  auto& state = *static_cast<RunState*>(c.owner);
  if (state.replaying && state.at < state.blocks.size() && state.blocks[state.at].first == bytes) {
    return state.blocks[state.at++].second;
  }
  void* block = state.backend->workspace(bytes, state.poison);
  state.blocks.emplace_back(bytes, block);
  state.at = state.blocks.size();
  return block;
}

void record_choice(Context& c, const char* text) { static_cast<RunState*>(c.owner)->chosen = text; }

// The one timing loop: after the first, untimed run come, for each kind of cache, runs to warm up and then the samples.
class Repetition {
 public:
  Repetition(const TimingRequest& request, RunReply& reply, Backend& backend)
      : request_(request), reply_(reply), backend_(backend) {}

  [[nodiscard]] bool repeating() const { return kind_ > 0; }

  void begin() {
    backend_.begin_sample(cold());
    // once, and after the backend's own launches
    if (!watched_) backend_.watch_launches();
    watched_ = true;
  }

  void end() {
    const double seconds = backend_.end_sample();
    if (warming()) {
      if (warmed_ == 0 && reply_.timing.kernels.empty()) reply_.timing.kernels = backend_.watched_launches();
      ++warmed_;
    } else {
      times().push_back(seconds);
    }
  }

  // Called after every run: is there to be another, and of which kind?
  [[nodiscard]] bool again() {
    if (kind_ == 0) return enter(request_.warm ? kWarm : request_.cold ? kCold : kDone);
    if (warming()) return true;
    const bool enough = static_cast<int>(times().size()) >= request_.samples;
    const bool spent = !times().empty() && elapsed() > request_.budget;
    if (!enough && !spent) return true;
    return enter(kind_ == kWarm && request_.cold ? kCold : kDone);
  }

 private:
  enum Kind { kDone = -1, kFirst = 0, kWarm = 1, kCold = 2 };
  // clocks rise and pages settle within some milliseconds of work; one run is enough where it takes longer than that
  static constexpr double kWarmingSeconds = 0.05;
  static constexpr int kWarmingRuns = 3, kMostWarmingRuns = 200;

  [[nodiscard]] bool cold() const { return kind_ == kCold; }
  [[nodiscard]] std::vector<double>& times() { return cold() ? reply_.timing.cold : reply_.timing.warm; }
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
  }
  [[nodiscard]] bool warming() {
    if (!times().empty()) return false;
    const double spent = elapsed();
    const bool long_enough = spent > kWarmingSeconds || warmed_ >= kMostWarmingRuns;
    const bool often_enough = warmed_ >= kWarmingRuns || (warmed_ >= 1 && spent > 20 * kWarmingSeconds);
    if (!settled_ && long_enough && often_enough) {
      settled_ = true;
      since_ = std::chrono::steady_clock::now();
    }
    return !settled_;
  }
  bool enter(Kind kind) {
    kind_ = kind, warmed_ = 0, settled_ = false, since_ = std::chrono::steady_clock::now();
    return kind_ != kDone;
  }

  const TimingRequest& request_;
  RunReply& reply_;
  Backend& backend_;
  Kind kind_ = kFirst;
  int warmed_ = 0;
  bool settled_ = false, watched_ = false;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace

std::string this_program() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  return n > 0 ? std::string(path, static_cast<std::size_t>(n)) : "verify";
}

RunReply serve(const RunRequest& request, const OperatorEntry& entry, std::byte* image, Backend& backend) {
  RunReply reply;
  if (const std::string reason = backend.unavailable(); !reason.empty()) {
    reply.status = RunReply::Status::unavailable;
    reply.text = reason;
    return reply;
  }
  if (backend.sm() != 0 && request.min_sm > backend.sm()) {
    reply.status = RunReply::Status::too_old;
    reply.text = fmt::format("needs sm_{}, device is sm_{}", request.min_sm, backend.sm());
    return reply;
  }
  RunState state{&backend, request.poison, {}, {}, 0, false};
  try {
    StagedViews views = request.views;
    Context context;
    context.allocate = allocate_workspace;
    context.say = record_choice;
    context.owner = &state;
    backend.disturb(request.disturbance);
    context.stream = backend.stream();
    Invocation invocation{
        request.variant, request.dtype, request.device, views.data(), nullptr, &context, {}, {}, {}, {}};
    if (backend.apart()) {
      // the views then hold addresses, to which no base is to be added
      (void)entry.relocate(request.dtype, views.data(), [&](const ArrayInfo& a, std::int64_t offset) {
        return backend.place(a, image + offset, request.poison);
      });
    } else {
      invocation.base = backend.upload(image, request.image_bytes);
    }
    if (backend.tracks_arrays()) {
      StagedViews copy = request.views;  // unpacking rebases them
      backend.begin(entry.unpack(request.dtype, copy.data(), invocation.base), request.poison,
                    request.schedule, request.check_accesses);
    }
    Repetition repetition(request.timing, reply, backend);
    std::chrono::steady_clock::time_point start, preparing;
    bool prepares = false;
    std::size_t own_blocks = 0;  // of prepare(): kept by its plan, never handed out again
    invocation.before_prepare = [&] {
      backend.synchronize();
      prepares = true;
      preparing = std::chrono::steady_clock::now();
    };
    invocation.before_run = [&] {
      if (repetition.repeating()) {
        state.replaying = true;
        state.at = own_blocks;
        repetition.begin();
        return;
      }
      backend.synchronize();
      if (prepares)
        reply.timing.prepare =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - preparing).count();
      own_blocks = state.blocks.size();
      if (request.watch) backend.watch_launches();
      start = std::chrono::steady_clock::now();
    };
    invocation.after_run = [&] {
      if (repetition.repeating()) return repetition.end();
      backend.synchronize();
      reply.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (request.watch) reply.timing.kernels = backend.watched_launches();
    };
    if (request.timing.samples > 0) {
      backend.keep(request.timing.outputs);
      invocation.again = [&] { return repetition.again(); };
    }
    reply.text =
        request.plugin.empty() ? entry.invoke(invocation) : invoke_plugin(request.plugin, entry, invocation);
    if (!reply.text.empty()) reply.status = RunReply::Status::unsupported;
    backend.download(image, request.image_bytes);
  } catch (const ResourceError& e) {
    reply.status = RunReply::Status::no_resource;
    reply.text = e.what();
  } catch (const std::bad_alloc&) {
    // under `ulimit -v` an allocation fails for its user's limit; otherwise the variant asked for most of the machine's memory
    reply.status = address_space_is_limited() ? RunReply::Status::no_resource : RunReply::Status::error;
    reply.text =
        address_space_is_limited() ? "out of address space (ulimit -v)" : "out of memory (std::bad_alloc)";
  } catch (const std::exception& e) {
    reply.status = RunReply::Status::error;
    reply.text = e.what();
  }
  reply.chosen = state.chosen;
  try {
    reply.trespass = backend.release_workspace();
    reply.findings = backend.findings();
    if (const std::string why = backend.declined(); !why.empty() && reply.status == RunReply::Status::ok) {
      reply.status = RunReply::Status::declined;
      reply.text = why;
    }
  } catch (const std::exception& e) {
    reply.status = RunReply::Status::error;
    if (reply.text.empty()) reply.text = e.what();
  }
  return reply;
}

namespace {

// Address space for images: as much as any may need, or half of what `ulimit -v` leaves.
std::int64_t window_size() {
  const std::int64_t half = address_space_left() / 2 / 4096 * 4096;
  return std::min(kWindowBytes, std::max<std::int64_t>(half, 4096));
}

}  // namespace

int worker_main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // the judge gone, nobody waits for an answer
  const std::int64_t window_bytes = window_size();
  void* window = mmap(nullptr, static_cast<std::size_t>(window_bytes), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const std::string no_window =
      window != MAP_FAILED ? "" : fmt::format("out of address space: {}", std::strerror(errno));
  std::map<Device, std::unique_ptr<Backend>> backends;
  bool confined = false;
  Message message;
  while (message.receive(kWire)) {
    const RunRequest request = decode_request(message);
    RunReply reply;
    if (request.op == kSettle) {
      for (int tries = 0; tries < 1000 && count_threads() > request.image_bytes; ++tries) usleep(2000);
    } else if (request.op == kListPlugin) {
      confine_worker(true);
      confined = true;
      reply = describe_plugin(request.plugin);
    } else if (request.op == kListVariants) {
      reply.findings = describe_variants();
    } else {
      const auto pages = static_cast<std::size_t>((request.image_bytes + 4095) / 4096 * 4096);
      std::string missing = no_window;
      if (missing.empty() && static_cast<std::int64_t>(pages) > window_bytes) {
        missing = fmt::format("out of address space: an image of {} MiB, {} MiB are left (ulimit -v)",
                              pages >> 20, window_bytes >> 20);
      }
      if (missing.empty() && !confined) missing = missing_resources(omp_get_max_threads());
      // always at the same address: a kernel that caches by pointer meets new data there, and what lies past it cannot be touched
      if (missing.empty() &&
          mmap(window, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, kBlock, 0) == MAP_FAILED) {
        missing = fmt::format("cannot map an image of {} bytes: {}", pages, std::strerror(errno));
      }
      if (!missing.empty()) {
        reply.status = RunReply::Status::no_resource;
        reply.text = missing;
        reply.ticket = request.ticket;
        if (!encode(reply).send(kWire)) return 1;
        continue;
      }
      std::unique_ptr<Backend>& backend = backends[request.device];
      try {
        if (!backend) backend = make_backend(request.device);
      } catch (const std::exception& e) {  // a device that is there and does not answer
        reply.status = RunReply::Status::error;
        reply.text = e.what();
      }
      if (!confined) {  // after the device is there: its driver may start a helper with rights of its own
        confine_worker(request.device != Device::gpu);
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of rights may have cleared it
        confined = true;
      }
      if (backend)
        reply = serve(request, find_operator(request.op), static_cast<std::byte*>(window), *backend);
      // out of reach until the next run: a thread still writing when its variant has returned is a crash
      (void)mmap(window, pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
      if (has_children() && reply.status == RunReply::Status::ok) {
        reply.status = RunReply::Status::error;
        reply.text = "left a process running after it had returned";
      }
    }
    reply.threads = count_threads();
    reply.ticket = request.ticket;
    if (!encode(reply).send(kWire)) {
      std::fprintf(stderr, "cannot answer: the control socket to the judge is closed\n");
      return 1;
    }
  }
  return 0;
}

namespace {

// The error for a descriptor or a process that could not be had.
ResourceError cannot_start(int code) {
  rlimit limit{};
  // EINVAL: of F_DUPFD with a first number beyond the limit
  const bool files = (code == EMFILE || code == EINVAL) && getrlimit(RLIMIT_NOFILE, &limit) == 0;
  return ResourceError(fmt::format("cannot start a child process: {}{}", std::strerror(files ? EMFILE : code),
                                   files ? fmt::format(" (ulimit -n is {})", limit.rlim_cur) : ""));
}

// The same descriptor with a number of at least 10, so that dup2 onto 0..4 in the child cannot overwrite one that is still needed.
Descriptor raised(const Descriptor& low) {
  Descriptor high(fcntl(low.get(), F_DUPFD_CLOEXEC, 10));
  if (high.get() < 0) throw cannot_start(errno);
  return high;
}

struct DescriptorPair {
  Descriptor first, second;
};
DescriptorPair raised(const int (&pair)[2]) {
  const Descriptor low[2] = {Descriptor(pair[0]), Descriptor(pair[1])};
  return {raised(low[0]), raised(low[1])};
}

}  // namespace

Worker::Worker(const std::string& program, OomCounter oom_counter)
    : oom_counter_(std::move(oom_counter)), oom_kills_before_(oom_counter_()) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) throw cannot_start(errno);
  DescriptorPair wire = raised(pair);
  if (pipe2(pair, O_CLOEXEC) != 0) throw cannot_start(errno);
  DescriptorPair words = raised(pair);
  Descriptor block(memfd_create("plumbline-image", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (block.get() < 0) throw cannot_start(errno);
  wire_ = std::move(wire.first), words_ = std::move(words.first), block_ = raised(block);
  const Descriptor child_wire = std::move(wire.second), child_words = std::move(words.second);
  // it may grow but never shrink: a child that truncated it would end the judge with SIGBUS
  fcntl(block_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
  fcntl(words_.get(), F_SETFL, O_NONBLOCK);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, child_words.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, child_words.get(), 2);
  posix_spawn_file_actions_adddup2(&actions, child_wire.get(), kWire);
  posix_spawn_file_actions_adddup2(&actions, block_.get(), kBlock);
  std::string name = program, flag = "--worker";
  char* arguments[] = {name.data(), flag.data(), nullptr};
  // idle OpenMP threads of one child would spin against the next: 12 times slower on two cores
  std::string wait = "OMP_WAIT_POLICY=passive";
  std::vector<char*> environment;
  for (char** e = environ; *e != nullptr; ++e) environment.push_back(*e);
  if (getenv("OMP_WAIT_POLICY") == nullptr) environment.push_back(wait.data());
  environment.push_back(nullptr);
  // a group of its own: Ctrl-C is the judge's, and the whole group can be ended; signals that the judge ignores are as usual there
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int s : {SIGXFSZ, SIGPIPE}) sigaddset(&usual, s);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  const int status = start_process(pid_, program.c_str(), actions, attributes, arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (status != 0) {
    pid_ = -1;
    if (status == EAGAIN || status == ENOMEM || status == EMFILE) throw cannot_start(status);
    throw Error(fmt::format("cannot start a child process: {}: {}", program, std::strerror(status)));
  }
  group_ = pid_;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Worker::~Worker() { end(); }

void Worker::end() {
  if (group_ > 0) end_process(group_, pid_ < 0);
  pid_ = group_ = -1;
  if (window_ != nullptr) munmap(window_, static_cast<std::size_t>(mapped_));
  window_ = nullptr, mapped_ = 0;
  wire_ = Descriptor(), block_ = Descriptor(), words_ = Descriptor();
}

std::byte* Worker::image(std::int64_t bytes) {
  const std::int64_t pages = (bytes + 4095) / 4096 * 4096;
  if (pages > kWindowBytes)
    throw Error(fmt::format("a case of {} GiB is larger than the image window", pages >> 30));
  if (mapped_ < pages) {
    if (window_ != nullptr) munmap(window_, static_cast<std::size_t>(mapped_));
    window_ = nullptr, mapped_ = 0;
    // fallocate rather than ftruncate: too little memory is an error here, not a SIGBUS later
    if (fallocate(block_.get(), 0, 0, pages) != 0) {
      throw ResourceError(
          fmt::format("out of memory: an image of {} MiB: {}", pages >> 20, std::strerror(errno)));
    }
    void* at =
        mmap(nullptr, static_cast<std::size_t>(pages), PROT_READ | PROT_WRITE, MAP_SHARED, block_.get(), 0);
    if (at == MAP_FAILED)
      throw ResourceError(fmt::format("out of memory: an image of {} MiB cannot be mapped: {}", pages >> 20,
                                      std::strerror(errno)));
    window_ = static_cast<std::byte*>(at), mapped_ = pages;
  }
  return window_;
}

std::string Worker::last_words() {
  std::string said;
  char buffer[4096];
  for (ssize_t n; (n = read(words_.get(), buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<std::size_t>(n));
    if (said.size() > 65536) said.erase(0, said.size() - 4096);
  }
  return said;
}

Worker::Outcome Worker::run(const RunRequest& request, double seconds) { return exchange(request, seconds); }

Worker::Outcome Worker::settle(int threads) {
  RunRequest request;
  request.op = kSettle;
  request.image_bytes = threads;
  return exchange(std::move(request), 60);
}

Worker::Outcome Worker::exchange(RunRequest request, double seconds) {
  using Clock = std::chrono::steady_clock;
  Outcome outcome;
  std::string said;
  const auto finish = [&](Outcome::Kind kind, const std::string& how) {
    said += last_words();
    while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
    const std::size_t line = said.rfind('\n');
    const std::string last = line == std::string::npos ? said : said.substr(line + 1);
    outcome.kind = kind;
    outcome.how = last.empty() ? how : fmt::format("{}; last words: {}", how, printable(last, 300));
    end();
    return outcome;
  };
  const auto died = [&](const char* when) {
    int status = 0;
    // the socket closes a moment before the process is gone; on a busy machine that can be seconds
    const auto patience = Clock::now() + std::chrono::seconds(10);
    while (Clock::now() < patience) {
      const pid_t done = waitpid(pid_, &status, WNOHANG);
      if (done == pid_) {
        pid_ = -1;
        if (!WIFSIGNALED(status))
          return finish(Outcome::Kind::died,
                        fmt::format("exited with code {} {}", WEXITSTATUS(status), when));
        const int signal = WTERMSIG(status);
        if (signal == SIGKILL && oom_counter_() != oom_kills_before_)
          return finish(Outcome::Kind::out_of_memory, "out of memory: the kernel killed the child process");
        return finish(Outcome::Kind::died,
                      fmt::format("killed by SIG{} {}{}", sigabbrev_np(signal), when,
                                  signal == SIGSYS
                                      ? ": by seccomp, it called a forbidden system call on another process"
                                      : ""));
      }
      usleep(1000);
    }
    return finish(Outcome::Kind::died, "closed its control socket to the judge");
  };
  constexpr const char* kDuring = "in the middle of a run";
  constexpr const char* kAfter = "after it had returned: a thread that it left running was still working";
  std::byte unasked;
  const ssize_t early = recv(wire_.get(), &unasked, 1, MSG_DONTWAIT | MSG_PEEK);
  if (early > 0) return finish(Outcome::Kind::died, kBrokenWire);
  if (early == 0) return died(kAfter);
  const bool settling = request.op == kSettle;
  request.ticket = ++tickets_;
  if (!encode(request).send(wire_.get())) return died(kAfter);
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::vector<std::byte> inbox;
  bool listening = true;
  while (true) {
    if (stop_signal != 0) return finish(Outcome::Kind::interrupted, "interrupted");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return finish(Outcome::Kind::timed_out, fmt::format("did not end within {:g} s", seconds));
    std::array<pollfd, 2> fds{{{wire_.get(), POLLIN, 0}, {listening ? words_.get() : -1, POLLIN, 0}}};
    const int ready = poll(fds.data(), fds.size(), static_cast<int>(std::min<long long>(left, 100)));
    if (ready < 0 && errno != EINTR) return finish(Outcome::Kind::died, "poll failed");
    if (ready <= 0) continue;
    if ((fds[1].revents & POLLIN) != 0) {
      said += last_words();  // drained as it comes: a chatty kernel must not block on a full pipe
      if (said.size() > 65536) said.erase(0, said.size() - 4096);
    } else if (fds[1].revents != 0) {
      listening = false;  // it closed its output
    }
    if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    // never waited for: half a message and then silence must not hold up the judge
    std::array<std::byte, 65536> part;
    const ssize_t n = recv(wire_.get(), part.data(), part.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return died(settling ? kAfter : kDuring);
    inbox.insert(inbox.end(), part.begin(), part.begin() + n);
    try {
      Message message;
      if (!message.take_from(inbox)) continue;
      outcome.reply = decode_reply(message);
      if (outcome.reply.ticket != request.ticket) throw Error(kBrokenWire);
    } catch (const Error& e) { return finish(Outcome::Kind::died, e.what()); }
    return outcome;
  }
}

}  // namespace plumb
