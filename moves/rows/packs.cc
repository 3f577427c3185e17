#include "moves/rows/packs.h"

namespace warpath {
namespace {

std::string pack_type(const model::Array& array, std::int64_t vector) {
  const std::int64_t bytes = static_cast<std::int64_t>(array.element_bytes) * vector;
  if (array.type == "double" && bytes == 16) return "double2";
  const std::string kind = array.type == "float" ? "float" : array.type == "int" ? "int" : "uint";
  return bytes == 16 ? kind + "4" : bytes == 8 ? kind + "2" : "unsigned";
}

}  // namespace

bool can_pack(const model::KernelFacts& facts,
              const model::Array& array,
              const model::Polynomial& start,
              std::int64_t vector) {
  const std::int64_t bytes = static_cast<std::int64_t>(array.element_bytes) * vector;
  if (vector < 2 || bytes < 4 || bytes > 16 || array.alignment_bytes == 0 ||
      array.alignment_bytes % bytes != 0)
    return false;
  return facts.resolved(start).divisible_by(vector, facts.multiples());
}

std::string pack_move(const model::Array& array,
                      std::int64_t vector,
                      std::string_view local,
                      std::string_view k,
                      std::string_view there,
                      bool load) {
  const std::string l(local), i(k), t(there);
  std::string here = l + "[" + i + "]", memory = array.name + "[" + t + "]";
  if (vector > 1) {
    const std::string type = pack_type(array, vector);
    here = "*reinterpret_cast<" + type + "*>(" + l + " + " + i + ")";
    memory = "*reinterpret_cast<" + std::string(load ? "const " : "") + type + "*>(" + array.name +
             " + " + t + ")";
  }
  return load ? here + " = " + memory + ";" : memory + " = " + here + ";";
}

}  // namespace warpath
