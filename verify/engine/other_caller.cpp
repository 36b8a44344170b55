#include "verify/engine/other_caller.hpp"

#include <cstring>
#include <exception>
#include <new>

namespace plumb {
namespace {

struct Owner {
  Backend& backend;
  Poison poison;
};

void* workspace_of_owner(Context& c, std::int64_t bytes) {
  const Owner& owner = *static_cast<const Owner*>(c.owner);
  return owner.backend.workspace(bytes, owner.poison);
}

std::byte* copy_of(const std::byte* image, std::int64_t bytes) {
  const std::size_t whole = static_cast<std::size_t>((bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
  void* const copy = std::aligned_alloc(kPageBytes, whole);
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, image, static_cast<std::size_t>(bytes));
  return static_cast<std::byte*>(copy);
}

}  // namespace

OtherCaller::OtherCaller(const RunRequest& request, const OperatorEntry& entry, const std::byte* image)
    : request_(request),
      backend_(make_backend(Device::cpu)),
      image_(copy_of(image, request.image_bytes)),
      thread_([this, &entry] { call(entry); }) {}

void OtherCaller::call(const OperatorEntry& entry) {
  Owner owner{*backend_, request_.poison};
  Context context;
  context.allocate = workspace_of_owner;
  context.say = [](Context&, const char*) {};
  context.spend = [](Context&, double) {};
  context.owner = &owner;
  context.uses = request_.uses;
  const Invocation invocation{request_.variant,
                              request_.dtype,
                              request_.device,
                              request_.views.data(),
                              image_.get(),
                              &context,
                              [] {},
                              [] {},
                              [] {},
                              {}};
  try {
    (void)entry.invoke(invocation);
  } catch (const std::exception&) {
    return;  // the judged call meets the same, and reports it
  }
}

}  // namespace plumb
