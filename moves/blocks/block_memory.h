#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "moves/blocks/block_value.h"

namespace warpath {

/// An array in global or shared memory as the threads of one block see it. Two threads may access
/// the same element, at least one of them writing, only if a barrier of both lies between.
class BlockMemory {
 public:
  struct Element {
    std::int64_t at = 0, per_block = 0;
  };
  /// When threads of the block, and of each warp, last waited for each other.
  struct Clock {
    std::int32_t block = 0;
    std::vector<std::int32_t> warps;
  };

  std::string name;
  DType type = DType::f32;
  int array = 0;          ///< its number, by which data refer to it
  bool global = false;    ///< holds data before the kernel runs; otherwise nothing
  bool written = false;   ///< by some statement; other global arrays need no record
  std::int64_t size = 0;  ///< elements; 0: unknown
  bool unknown = false;   ///< shared, with contents at the start of the run

  /// nullopt with one line in `why`: a race, or no such element.
  [[nodiscard]] std::optional<BlockValue> load(Element element,
                                               int thread,
                                               const Clock& now,
                                               std::string& why);
  [[nodiscard]] bool store(
      Element element, const BlockValue& value, int thread, const Clock& now, std::string& why);

  /// What the block leaves in each element that it wrote, ascending.
  [[nodiscard]] std::map<std::int64_t, BlockValue> stored() const;
  /// Distance of the elements of neighbouring blocks; nullopt: no element was touched, or the array
  /// is not written.
  [[nodiscard]] std::optional<std::int64_t> per_block() const { return per_block_; }
  /// Nothing has used an element.
  [[nodiscard]] bool is_untouched() const { return dense_.empty() && sparse_.empty(); }
  /// An element of shared memory at the end of the run.
  struct Left {
    bool stored = false;
    BlockValue value;
  };
  [[nodiscard]] std::vector<Left> left() const;
  /// A barrier of the block preceded a read of initial contents.
  [[nodiscard]] bool waits_first() const { return waits_first_; }
  /// Exclusive bound of the elements whose initial contents were read.
  [[nodiscard]] std::int64_t loaded_end() const { return loaded_end_; }

 private:
  /// By which thread (kSeveral of the warp, or kSeveral warps), and when.
  struct Visit {
    static constexpr std::int32_t kSeveral = -2;
    std::int32_t thread = -1, warp = -1, block_time = -1, warp_time = -1;
    void add(int by, const Clock& now);
    [[nodiscard]] bool is_apart(int from, const Clock& now) const;
  };
  struct Cell {
    BlockValue value;
    Visit read, write;
    bool stored = false;
  };
  Cell* cell(Element element, std::string& why);

  std::unordered_map<std::int64_t, Cell> sparse_;  // of global memory
  std::vector<Cell> dense_;                        // of shared memory, from 0 on
  std::optional<std::int64_t> per_block_;
  std::int64_t loaded_end_ = 0;
  bool waits_first_ = false;
};

}  // namespace warpath
