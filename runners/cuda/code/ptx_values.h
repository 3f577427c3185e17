#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// What is known of a launch during PTX analysis: parameters by index, block and grid.
struct PtxLaunch {
  /// integers only; pointers and unknown values are absent
  std::map<std::size_t, std::int64_t> parameters{};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::array<std::int64_t, 3> grid{1, 1, 1};
  [[nodiscard]] double threads() const;
};

inline constexpr std::size_t kPtxLanes = 32;

/// The value of an integer in each lane of the first warp of the first block.
struct LaneValues {
  std::array<std::int64_t, kPtxLanes> at{};
  /// An unknown term common to all lanes is to be added: a pointer, an unspecified size.
  bool shifted = false;
  [[nodiscard]] bool uniform() const;
};

/// Parses an integer literal: "-8", "0x10", "255U"; nullopt for anything else.
[[nodiscard]] std::optional<std::int64_t> ptx_literal(std::string_view text);

/// The registers in an operand: two in "{%f1, %f2}", one in "[%rd4+16]". Views into `operand`.
[[nodiscard]] std::vector<std::string_view> ptx_registers(std::string_view operand);

/// Tracks the integer registers of a function in one pass from top to bottom: each place sees the
/// textually last definition before it, hence the first iteration of a loop and the later of two
/// branches. Constants, parameters, launch and lane are known; a value loaded from the same address
/// by all lanes is equal in all. Linear time. `function` must outlive it.
class PtxValues {
 public:
  PtxValues(const PtxFunction& function, const PtxLaunch& launch);

  /// Instruction index of the last definition of `name` in [first, last).
  [[nodiscard]] std::optional<std::size_t> definition(std::string_view name,
                                                      std::size_t first,
                                                      std::size_t last) const;
  /// The value of a register, literal, variable name or special register as seen by instruction
  /// `before`.
  [[nodiscard]] std::optional<LaneValues> lanes(std::string_view operand, std::size_t before) const;
  /// The value in the first thread; nullopt also if an unknown term is to be added.
  [[nodiscard]] std::optional<std::int64_t> value(std::string_view operand,
                                                  std::size_t before) const;
  /// The address in an operand like "[%rd4+16]" as seen by instruction `before`.
  [[nodiscard]] std::optional<LaneValues> address(std::string_view operand,
                                                  std::size_t before) const;

 private:
  [[nodiscard]] std::optional<LaneValues> special_register(std::string_view name) const;
  [[nodiscard]] LaneValues parameter(std::string_view operand) const;
  [[nodiscard]] std::optional<LaneValues> computed(const PtxInstruction& made,
                                                   std::size_t at) const;

  const PtxFunction& function_;
  const PtxLaunch launch_;
  std::map<std::string_view, std::vector<std::size_t>> definitions_;
  std::vector<std::optional<LaneValues>> results_;  ///< by instruction: the value it defines
};

}  // namespace warpath::cuda
