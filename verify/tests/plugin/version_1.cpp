// A plug-in as version 1 of the interface had it: what was built then is judged now. Its structs are those of that version, written out.
#include <cstddef>
#include <cstdint>

namespace {

struct array {
  const char* name;
  std::int32_t dtype, rank;
  std::int64_t shape[2], ld;
  std::int32_t is_output, reserved;
  void* data;
};
struct call {
  std::uint32_t size;
  std::int32_t dtype;
  const char* op;
  const array* arrays;
  const void* scalars;
  std::int32_t array_count, scalar_count;
  void* context;
};
struct variant {
  std::uint32_t size;
  std::int32_t dtype;
  const char *op, *name;
  std::int32_t device, arithmetic;
  std::uint32_t flags;
  std::int32_t alignment, min_sm, reserved;
  const char* (*supports)(const call*);
  const char* (*run)(const call*);
};
struct plugin {
  std::uint32_t version, variant_size;
  const char* name;
  std::int32_t count;
  const variant* variants;
};

const char* transpose(const call* c) {
  if (c->array_count != 2) return "not two arrays";
  const array *a = &c->arrays[0], *b = &c->arrays[1];
  if (a->rank != 2 || a->dtype != 0 || a->is_output || !b->is_output || a->shape[0] != b->shape[1])
    return "the arrays are not described as they are";
  for (std::int64_t i = 0; i < a->shape[0]; ++i)
    for (std::int64_t j = 0; j < a->shape[1]; ++j)
      static_cast<float*>(b->data)[j * b->ld + i] = static_cast<const float*>(a->data)[i * a->ld + j];
  return nullptr;
}

// what lies in `reserved` is not read
const variant kVariants[] = {
    {sizeof(variant), 0, "transpose", "of_version_1", 0, 0, 0, 0, 0, 77, nullptr, transpose}};
const plugin kPlugin = {1, sizeof(variant), "version_1", 1, kVariants};

}  // namespace

extern "C" __attribute__((visibility("default"))) const void* plumb_plugin_entry(void) { return &kPlugin; }
