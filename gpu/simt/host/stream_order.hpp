// Which launches each stream comes after.
#pragma once
#include <vector>

namespace plumb::simt {

struct StreamOrder {
  std::vector<const void*> keys;        // [0]: the null stream
  std::vector<std::vector<int>> knows;  // by stream: what its next launch knows
};

const void* host_key();                             // stands for the host
const std::vector<int>& host_knowledge();           // launches that the host has waited for, by stream
std::vector<int> knowledge_of(const void* stream);  // launches that its next one comes after, by stream
void add_knowledge(const void* stream, const std::vector<int>& knows);

}  // namespace plumb::simt
