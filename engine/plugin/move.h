#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/registry.h"
#include "engine/plugin/device_facts.h"
#include "engine/plugin/move_instance.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath {

/// What a move sees. All references outlive the call. A move changes one kernel, for the workloads
/// that it serves (`Variant::when`): with_versions asks it about one version after the other.
struct MoveContext {
  const KernelSpec& spec;
  const Variant& variant;
  const DeviceFacts& device;
};

/// A canonical transformation. Pure: the same context and parameters give the same variant,
/// whatever was called before. Chance enters only where parameters are chosen (Proposer, inner
/// tuning), so an edge's label reproduces its child. A compound move is a Move of its own with the
/// parameters of its parts. Thread-safe (const). One file each; the top `meson.build` holds the
/// list of names.
class Move {
 public:
  virtual ~Move() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// True if the move decides how the work is divided, staged or computed, false if it adjusts what
  /// is there: proposers try the first kind first, because what the second gains depends on it.
  [[nodiscard]] virtual bool structural() const { return false; }
  /// The (site, parameters) at which the move may apply, best guess first within a site; the
  /// instances of a site stand together. Bounded by the ranges of the move; no instance may be
  /// listed twice. A move with many numeric parameters lists a coarse grid here and its whole range
  /// in domain().
  [[nodiscard]] virtual std::vector<MoveInstance> enumerate(const MoveContext& context) const = 0;
  /// The numeric parameters at `site` with all their legal values: what an inner tuner may vary and
  /// what a foreign proposal may ask for. apply() takes any combination or says why not. Empty:
  /// nothing beyond enumerate().
  [[nodiscard]] virtual std::vector<Tunable> domain(const MoveContext&,
                                                    std::string_view /*site*/) const {
    return {};
  }
  /// The new variant; nullopt if the move does not apply there (with one line in `why`), also for
  /// sites and parameters that it never enumerated. The kernel computes the same up to rounding:
  /// the reference and its tolerance decide. The result may be illegal for the device or break a
  /// constraint of the spec: callers and runners find out.
  [[nodiscard]] virtual std::optional<Variant> apply(const MoveContext& context,
                                                     const MoveInstance& instance,
                                                     std::string& why) const = 0;
  /// The instance that undoes this one on the result, if there is one.
  [[nodiscard]] virtual std::optional<MoveInstance> inverse(const MoveContext&,
                                                            const MoveInstance&) const {
    return std::nullopt;
  }
  /// It reads CUDA C++. False: it leaves the text alone, or reads another language, and is asked
  /// about kernels of any.
  [[nodiscard]] virtual bool reads_source() const { return true; }
  /// It adjusts what the compiler makes of a text, of use where nothing else helps any more:
  /// proposers leave it out, and a campaign tries it at its best variant (docs/search.md,
  /// Polishing).
  [[nodiscard]] virtual bool polishes() const { return false; }
  /// It changes all versions of a variant by itself.
  [[nodiscard]] virtual bool makes_versions() const { return false; }
};

/// The moves of a build. Each makes versions of a kernel where a spec has several sizes
/// (with_versions).
class MoveRegistry : public Registry<Move> {
 public:
  using Registry::Registry;
  void add(const std::string& name, const std::string& help, Factory make);
};

}  // namespace warpath
