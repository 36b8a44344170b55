#include "verify/engine/process/wire.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

constexpr std::uint64_t kLongest = std::uint64_t{1} << 24;  // bytes of a message

bool write_all(int fd, const void* data, std::size_t n) {
  const auto* p = static_cast<const char*>(data);
  while (n > 0) {
    const ssize_t done = ::send(fd, p, n, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    p += done, n -= static_cast<std::size_t>(done);
  }
  return true;
}

bool read_all(int fd, void* data, std::size_t n) {
  auto* p = static_cast<char*>(data);
  while (n > 0) {
    const ssize_t done = ::read(fd, p, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    p += done, n -= static_cast<std::size_t>(done);
  }
  return true;
}

}  // namespace

void Message::append(const void* data, std::size_t n) {
  const auto* p = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), p, p + n);
}

void Message::take(void* out, std::size_t n) {
  if (bytes_.size() - at_ < n) throw Error(kBrokenWire);
  if (n > 0) std::memcpy(out, bytes_.data() + at_, n);
  at_ += n;
}

void Message::put(const void* data, std::size_t bytes) {
  put_number(static_cast<std::int64_t>(bytes));
  append(data, bytes);
}

std::string Message::text() {
  const auto n = static_cast<std::size_t>(number());
  if (n > bytes_.size() - at_) throw Error(kBrokenWire);
  std::string out(n, '\0');
  take(out.data(), n);
  return out;
}

std::int64_t Message::number() {
  std::int64_t v = 0;
  take(&v, sizeof v);
  return v;
}

double Message::real() {
  double v = 0;
  take(&v, sizeof v);
  return v;
}

bool Message::take_from(const std::vector<std::byte>& inbox) {
  std::uint64_t length = 0;
  if (inbox.size() < sizeof length) return false;
  std::memcpy(&length, inbox.data(), sizeof length);
  if (length > kLongest || inbox.size() > sizeof length + length) throw Error(kBrokenWire);
  if (inbox.size() < sizeof length + length) return false;
  bytes_.assign(inbox.begin() + sizeof length, inbox.end());
  at_ = 0;
  return true;
}

bool Message::send(int fd) const {
  const auto length = static_cast<std::uint64_t>(bytes_.size());
  return write_all(fd, &length, sizeof length) && write_all(fd, bytes_.data(), bytes_.size());
}

bool Message::receive(int fd) {
  std::uint64_t length = 0;
  if (!read_all(fd, &length, sizeof length) || length > kLongest) return false;
  bytes_.resize(length);
  at_ = 0;
  return read_all(fd, bytes_.data(), length);
}

// ---- requests: put and take name the fields in one order ----

namespace {

void put(Message& m, const Invocation& c) {
  m.put(c.op), m.put(c.variant), m.put(c.plugin);
  m.put_number(static_cast<int>(c.dtype)), m.put_number(static_cast<int>(c.device));
  m.put(c.views.data(), c.views.size());
  m.put_number(c.image_bytes), m.put_number(c.min_sm), m.put_number(c.uses);
}
void take(Message& m, Invocation& c) {
  c.op = m.text(), c.variant = m.text(), c.plugin = m.text();
  c.dtype = static_cast<Dtype>(m.number()), c.device = static_cast<Device>(m.number());
  const std::string views = m.text();
  c.views.resize(views.size());
  if (!views.empty()) std::memcpy(c.views.data(), views.data(), views.size());
  c.image_bytes = m.number(), c.min_sm = static_cast<int>(m.number()), c.uses = m.number();
}

// f(number) for every number but `poison` and `walls`, which is what both directions share.
template <class I, class F>
void each_number(I& i, F&& f) {
  f(i.schedule), f(i.check_accesses), f(i.threads_of_device);
  f(i.threads), f(i.disturbance), f(i.one_thread);
  f(i.calls), f(i.plan_runs), f(i.callers), f(i.plan_of_other_numbers), f(i.stop_where_differs);
  f(i.far_rows), f(i.watch);
}

void put(Message& m, const Instruments& i) {
  m.put_number(static_cast<int>(i.poison));
  each_number(i, [&](const auto& v) { m.put_number(static_cast<std::int64_t>(v)); });
  m.put_number(static_cast<std::int64_t>(i.walls.size()));
  for (const Wall& wall : i.walls) m.put_number(wall.at), m.put_number(wall.read_only_from);
}
void take(Message& m, Instruments& i) {
  i.poison = static_cast<Poison>(m.number());
  each_number(i, [&]<class V>(V& v) { v = static_cast<V>(m.number()); });
  i.walls.resize(static_cast<std::size_t>(m.number()));
  for (Wall& wall : i.walls) wall.at = m.number(), wall.read_only_from = m.number();
}

void put(Message& m, const TimingRequest& t) {
  m.put_number(t.samples), m.put_number(t.warm), m.put_number(t.cold);
  m.put_real(t.budget), m.put_real(t.give_up_above);
  m.put_number(static_cast<std::int64_t>(t.outputs.size()));
  for (const ByteRange& o : t.outputs) m.put_number(o.offset), m.put_number(o.bytes);
}
void take(Message& m, TimingRequest& t) {
  t.samples = static_cast<int>(m.number()), t.warm = m.number() != 0, t.cold = m.number() != 0;
  t.budget = m.real(), t.give_up_above = m.real();
  t.outputs.resize(static_cast<std::size_t>(m.number()));
  for (ByteRange& o : t.outputs) o.offset = m.number(), o.bytes = m.number();
}

}  // namespace

Message encode(const RunRequest& r) {
  Message m;
  m.put_number(kInvocationVersion);
  put(m, r.call), put(m, r.instruments), put(m, r.timing);
  m.put_number(r.sequence);
  return m;
}

RunRequest decode_request(Message& m) {
  if (m.number() != kInvocationVersion) throw Error(kBrokenWire);
  RunRequest r;
  take(m, r.call), take(m, r.instruments), take(m, r.timing);
  r.sequence = m.number();
  return r;
}

Message encode(const RunReply& r) {
  Message m;
  m.put_number(static_cast<int>(r.status));
  m.put(r.text), m.put(r.chosen), m.put(r.workspace_damage);
  m.put_number(static_cast<std::int64_t>(r.findings.size()));
  for (const std::string& f : r.findings) m.put(f);
  m.put_real(r.seconds);
  m.put_number(r.threads);
  m.put_number(r.sequence);
  m.put_real(r.timing.prepare), m.put_number(r.timing.given_up);
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
  m.put_number(r.calls), m.put_number(r.plan_run);
  m.put(r.uses.data(), r.uses.size() * sizeof(ResourceUse));
  return m;
}

RunReply decode_reply(Message& m) {
  RunReply r;
  r.status = static_cast<RunReply::Status>(m.number());
  r.text = m.text(), r.chosen = m.text(), r.workspace_damage = m.text();
  for (std::int64_t n = m.number(); n > 0; --n) r.findings.push_back(m.text());
  r.seconds = m.real();
  r.threads = static_cast<int>(m.number());
  r.sequence = m.number();
  r.timing.prepare = m.real(), r.timing.given_up = m.number() != 0;
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
  r.calls = static_cast<int>(m.number()), r.plan_run = static_cast<int>(m.number());
  const std::string uses = m.text();
  r.uses.resize(uses.size() / sizeof(ResourceUse));
  if (!r.uses.empty()) std::memcpy(r.uses.data(), uses.data(), r.uses.size() * sizeof(ResourceUse));
  if (!m.at_end() || r.status > RunReply::Status::no_resource) throw Error(kBrokenWire);
  return r;
}

}  // namespace plumb
