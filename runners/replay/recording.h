#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/plugin/prior.h"
#include "engine/run/variant_space.h"
#include "engine/search/lattice.h"
#include "engine/search/search.h"

namespace warpath {

/// Measured variants that stand in for the device that measured them: points of a tuning space
/// (RecordedSpace), or variants of a kernel and the moves between them (RecordedGraph). A row is a
/// variant. Immutable; thread-safe.
class Recording {
 public:
  struct Row {
    std::vector<Level> point = {};  ///< in a tuning space, [axes]
    Status status = Status::ok;
    double time_ns = 0;                  ///< the recorded objective; ok only
    std::vector<float> samples_ns = {};  ///< repeats, if recorded
    double compile_seconds = 0;
    double run_seconds = 0;  ///< the rest of the evaluation
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// One campaign's walk over the rows. Not thread-safe.
  class Walk : public VariantSpace {
   public:
    /// kNone: a variant that is no row of its own.
    [[nodiscard]] virtual std::uint32_t row(NodeId node) const = 0;
    /// What an evaluation of `node` returns; valid until the next call.
    [[nodiscard]] virtual const Row& found(NodeId node) const = 0;
    /// Outcome::binary_key; empty: not recorded.
    [[nodiscard]] virtual std::string code(NodeId) const { return {}; }

    // Steps::late
    /// Nodes opened since the last call, in that order.
    [[nodiscard]] virtual std::vector<NodeId> take_opened() { return {}; }
    [[nodiscard]] virtual bool has_opened() const { return false; }
    /// The late moves at a node, in recorded order.
    [[nodiscard]] virtual std::vector<Proposal> late_proposals(NodeId) const { return {}; }
  };

  Recording(const Recording&) = default;
  Recording(Recording&&) = default;
  Recording& operator=(const Recording&) = default;
  Recording& operator=(Recording&&) = default;
  virtual ~Recording() = default;
  [[nodiscard]] const std::string& name() const { return name_; }  ///< "convolution_milo-A100"
  [[nodiscard]] const std::string& device() const { return device_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  /// Median over the rows of the relative deviation of their repeats; 0 if none are recorded.
  [[nodiscard]] double noise() const { return noise_; }
  /// The fastest time, in ns; 0 if no row is ok.
  [[nodiscard]] double best_ns() const { return best_ns_; }

  /// Number of variants that a search can find: the rows, unless they are computed when asked for.
  [[nodiscard]] virtual std::uint64_t variants() const { return rows_.size(); }
  /// The rows that a search can come to, in ascending order: all, unless moves lead to some only.
  [[nodiscard]] virtual std::vector<std::uint32_t> reachable() const;
  /// False: its variants are reached by moves from the first row only, and no uniform draw is known
  /// of them.
  [[nodiscard]] virtual bool drawable() const { return true; }
  /// The row at which a search begins; `attempt` counts earlier attempts that failed.
  [[nodiscard]] virtual std::uint32_t first_row(const Options& options,
                                                std::uint64_t seed,
                                                std::uint64_t attempt) const = 0;
  /// How a walk chooses among moves, in a recording that has moves.
  struct Steps {
    Prior* prior = nullptr;                           ///< null: uniform; must outlive the walk
    std::set<std::string, std::less<>> without = {};  ///< moves to leave out
    /// moves that are Move::structural: inner tuning starts after them
    std::set<std::string, std::less<>> structural = {};
    /// moves that are no actions: they come as late proposals
    std::set<std::string, std::less<>> late = {};
  };
  /// The recording must outlive the walk.
  [[nodiscard]] virtual std::unique_ptr<Walk> walk(std::uint32_t first,
                                                   const Steps& steps) const = 0;
  /// Appends the rows one step away from `row` to `out`, in order.
  virtual void neighbours(std::uint32_t row, std::vector<std::uint32_t>& out) const = 0;

 protected:
  /// Throws Error(bad_input) with `place` unless every ok row has a time.
  Recording(std::string name, std::string device, std::vector<Row> rows, std::string_view place);

 private:
  std::string name_, device_;
  std::vector<Row> rows_;
  double noise_ = 0;
  double best_ns_ = 0;
};

/// Loads a recording of either kind, gzipped or not; the content determines which. Throws
/// Error(bad_input) naming file and key.
[[nodiscard]] std::shared_ptr<const Recording> load_recording(const std::filesystem::path& file);

}  // namespace warpath
