#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/plugin/outcome.h"
#include "engine/run/variant_space.h"
#include "engine/search/lattice.h"
#include "engine/search/search.h"

namespace warpath {

/// Variants that were measured once and stand in for the device that measured them: points of a
/// tuning space (RecordedSpace), or variants of a kernel and the moves between them
/// (RecordedGraph). A row is a variant. Read-only, any number of threads.
class Recording {
 public:
  struct Row {
    std::vector<Level> point = {};  ///< of a tuning space, [axes]
    Status status = Status::ok;
    double time_ns = 0;                  ///< the recorded objective; ok only
    std::vector<float> samples_ns = {};  ///< repeats, if recorded
    double compile_seconds = 0;
    double run_seconds = 0;  ///< everything else that the evaluation took
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// One campaign's way over the rows; one thread only.
  class Walk : public VariantSpace {
   public:
    [[nodiscard]] virtual std::uint32_t row(NodeId node) const = 0;
  };

  Recording(const Recording&) = default;
  Recording(Recording&&) = default;
  Recording& operator=(const Recording&) = default;
  Recording& operator=(Recording&&) = default;
  virtual ~Recording() = default;
  [[nodiscard]] const std::string& name() const { return name_; }  ///< "convolution_milo-A100"
  [[nodiscard]] const std::string& device() const { return device_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  /// Median over the rows of the relative deviation of their repeats; 0 where none are recorded.
  [[nodiscard]] double noise() const { return noise_; }
  /// The fastest time; 0 if nothing is ok.
  [[nodiscard]] double best_ns() const { return best_ns_; }

  /// The row at which a search begins; `attempt` counts those that failed before.
  [[nodiscard]] virtual std::uint32_t first_row(const SearchOptions& options,
                                                std::uint64_t seed,
                                                std::uint64_t attempt) const = 0;
  /// How moves are chosen from where there are any.
  struct Steps {
    Prior* prior = nullptr;                           ///< null: all alike; outlives the walk
    std::set<std::string, std::less<>> without = {};  ///< moves that are not made
    /// moves that are Move::structural: inner tuning begins at them
    std::set<std::string, std::less<>> structural = {};
  };
  /// The recording outlives the walk.
  [[nodiscard]] virtual std::unique_ptr<Walk> walk(std::uint32_t first,
                                                   const Steps& steps) const = 0;
  /// Rows that one step leads to from `row`, in order, appended to `out`.
  virtual void neighbours(std::uint32_t row, std::vector<std::uint32_t>& out) const = 0;

 protected:
  /// Throws Error(bad_input) with `place` unless every row that is ok has a time.
  Recording(std::string name, std::string device, std::vector<Row> rows, std::string_view place);

 private:
  std::string name_, device_;
  std::vector<Row> rows_;
  double noise_ = 0;
  double best_ns_ = 0;
};

/// Of whatever kind the file is, gzipped or not: told by its content. Throws Error(bad_input)
/// naming file and key.
[[nodiscard]] std::shared_ptr<const Recording> load_recording(const std::filesystem::path& file);

}  // namespace warpath
