#include "verify/engine/wire.hpp"

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

Message encode(const RunRequest& r) {
  Message m;
  m.put(r.op), m.put(r.variant);
  m.put_number(static_cast<int>(r.dtype)), m.put_number(static_cast<int>(r.device)),
      m.put_number(static_cast<int>(r.poison));
  m.put(r.views.data(), r.views.size());
  m.put_number(r.image_bytes);
  m.put(r.plugin);
  m.put_number(static_cast<std::int64_t>(r.schedule));
  m.put_number(r.check_accesses ? 1 : 0), m.put_number(r.threads_of_device);
  m.put_number(static_cast<std::int64_t>(r.disturbance)), m.put_number(r.one_thread);
  m.put_number(r.threads);
  m.put_number(r.min_sm), m.put_number(r.watch);
  m.put_number(r.mutant), m.put_number(r.note_places);
  m.put_number(r.sequence);
  m.put_number(r.timing.samples), m.put_number(r.timing.warm), m.put_number(r.timing.cold),
      m.put_real(r.timing.budget), m.put_real(r.timing.give_up_above);
  m.put_number(static_cast<std::int64_t>(r.timing.outputs.size()));
  for (const ByteRange& o : r.timing.outputs) m.put_number(o.offset), m.put_number(o.bytes);
  m.put_number(r.calls), m.put_number(r.plan_runs), m.put_number(r.stop_where_differs);
  m.put_number(r.uses), m.put_number(r.callers), m.put_number(r.plan_of_other_numbers);
  m.put_number(r.far_rows);
  m.put_number(static_cast<std::int64_t>(r.walls.size()));
  for (const Wall& wall : r.walls) m.put_number(wall.at), m.put_number(wall.read_only_from);
  return m;
}

RunRequest decode_request(Message& m) {
  RunRequest r;
  r.op = m.text(), r.variant = m.text();
  r.dtype = static_cast<Dtype>(m.number()), r.device = static_cast<Device>(m.number()),
  r.poison = static_cast<Poison>(m.number());
  const std::string views = m.text();
  r.views.resize(views.size());
  if (!views.empty()) std::memcpy(r.views.data(), views.data(), views.size());
  r.image_bytes = m.number();
  r.plugin = m.text();
  r.schedule = static_cast<std::uint64_t>(m.number());
  r.check_accesses = m.number() != 0, r.threads_of_device = m.number();
  r.disturbance = static_cast<std::uint64_t>(m.number()), r.one_thread = m.number() != 0;
  r.threads = static_cast<int>(m.number());
  r.min_sm = static_cast<int>(m.number()), r.watch = m.number() != 0;
  r.mutant = static_cast<int>(m.number()), r.note_places = m.number() != 0;
  r.sequence = m.number();
  r.timing.samples = static_cast<int>(m.number()), r.timing.warm = m.number() != 0,
  r.timing.cold = m.number() != 0;
  r.timing.budget = m.real(), r.timing.give_up_above = m.real();
  for (std::int64_t n = m.number(); n > 0; --n) {
    const std::int64_t offset = m.number();
    r.timing.outputs.push_back({offset, m.number()});
  }
  r.calls = static_cast<int>(m.number()), r.plan_runs = static_cast<int>(m.number());
  r.stop_where_differs = m.number() != 0;
  r.uses = m.number(), r.callers = static_cast<int>(m.number());
  r.plan_of_other_numbers = m.number() != 0, r.far_rows = m.number() != 0;
  r.walls.resize(static_cast<std::size_t>(m.number()));
  for (Wall& wall : r.walls) wall.at = m.number(), wall.read_only_from = m.number();
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
  m.put(r.places.data(), r.places.size() * sizeof(SeenMutant));
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
  const std::string places = m.text();
  r.places.resize(places.size() / sizeof(SeenMutant));
  if (!r.places.empty()) std::memcpy(r.places.data(), places.data(), r.places.size() * sizeof(SeenMutant));
  r.calls = static_cast<int>(m.number()), r.plan_run = static_cast<int>(m.number());
  const std::string uses = m.text();
  r.uses.resize(uses.size() / sizeof(ResourceUse));
  if (!r.uses.empty()) std::memcpy(r.uses.data(), uses.data(), r.uses.size() * sizeof(ResourceUse));
  if (!m.at_end() || r.status > RunReply::Status::no_resource) throw Error(kBrokenWire);
  return r;
}

}  // namespace plumb
