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

/// What is known of a launch when its PTX is read: parameters by index, block and grid.
struct PtxLaunch {
  /// integers only; pointers and unknown ones are left out
  std::map<std::size_t, std::int64_t> parameters{};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::array<std::int64_t, 3> grid{1, 1, 1};
  [[nodiscard]] double threads() const;
};

inline constexpr std::size_t kPtxLanes = 32;

/// An integer in each lane of the first warp of the first block.
struct LaneValues {
  std::array<std::int64_t, kPtxLanes> at{};
  /// Something unknown that all lanes share is to be added: a pointer, a size that was not given.
  bool shifted = false;
  [[nodiscard]] bool uniform() const;
};

/// An integer as it is written: "-8", "0x10", "255U"; nullopt for anything else.
[[nodiscard]] std::optional<std::int64_t> ptx_literal(std::string_view text);

/// Registers a name of an operand stands for: of "{%f1, %f2}" two, of "[%rd4+16]" one. Views into
/// `operand`.
[[nodiscard]] std::vector<std::string_view> ptx_registers(std::string_view operand);

/// Integer registers of a function, followed through the text from top to bottom once: a place sees
/// the definition that stands last before it, and so the first iteration of a loop and the later
/// branch of two. Constants, parameters, launch and lane are known; what is loaded from one address
/// for all lanes is the same for all. Linear in time. `function` outlives it.
class PtxValues {
 public:
  PtxValues(const PtxFunction& function, const PtxLaunch& launch);

  /// The last definition of `name` in [first, last), as index of an instruction.
  [[nodiscard]] std::optional<std::size_t> definition(std::string_view name,
                                                      std::size_t first,
                                                      std::size_t last) const;
  /// A register, literal, name of a variable or special register, as the instruction with index
  /// `before` sees it.
  [[nodiscard]] std::optional<LaneValues> lanes(std::string_view operand, std::size_t before) const;
  /// In the first thread; nullopt also where an unknown is to be added.
  [[nodiscard]] std::optional<std::int64_t> value(std::string_view operand,
                                                  std::size_t before) const;
  /// Of "[%rd4+16]", as the instruction with index `before` sees it.
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
  std::vector<std::optional<LaneValues>> results_;  ///< by instruction: what it defines
};

}  // namespace warpath::cuda
