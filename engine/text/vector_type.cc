#include "engine/text/vector_type.h"

#include <algorithm>
#include <array>

namespace warpath {
namespace {

struct Row {
  std::string_view name;
  DType element;
};

/// Each with one to four lanes.
constexpr auto kBases = std::to_array<Row>({{"char", DType::i8},
                                            {"uchar", DType::u8},
                                            {"short", DType::i16},
                                            {"ushort", DType::u16},
                                            {"int", DType::i32},
                                            {"uint", DType::u32},
                                            {"long", DType::i64},
                                            {"ulong", DType::u64},
                                            {"longlong", DType::i64},
                                            {"ulonglong", DType::u64},
                                            {"float", DType::f32},
                                            {"double", DType::f64}});
constexpr auto kPairs = std::to_array<Row>({{"half2", DType::f16},
                                            {"__half2", DType::f16},
                                            {"nv_bfloat162", DType::bf16},
                                            {"__nv_bfloat162", DType::bf16}});

}  // namespace

std::optional<VectorType> vector_type_of(std::string_view name) {
  if (name.empty() || name.back() < '1' || name.back() > '4') return std::nullopt;
  if (const auto pair = std::ranges::find(kPairs, name, &Row::name); pair != kPairs.end())
    return VectorType{pair->element, 2};
  const std::string_view base = name.substr(0, name.size() - 1);
  const auto row = std::ranges::find(kBases, base, &Row::name);
  if (row == kBases.end()) return std::nullopt;
  return VectorType{row->element, name.back() - '0'};
}

}  // namespace warpath
