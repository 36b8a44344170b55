// Which launches each stream comes after.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::simt {

struct StreamOrder {
  std::vector<const void*> keys;                       // [0]: the null stream
  std::vector<std::vector<int>> knows;                 // by stream: what its next launch knows
  std::unordered_map<const void*, std::string> names;  // of the program's streams; they outlast a run
};

/// What findings call the stream of that index; empty where it has no name.
std::string name_of_stream(int index);
const void* host_key();                             // stands for the host
const std::vector<int>& host_knowledge();           // launches that the host has waited for, by stream
std::vector<int> knowledge_of(const void* stream);  // launches that its next one comes after, by stream
void add_knowledge(const void* stream, const std::vector<int>& knows);

}  // namespace plumb::simt
