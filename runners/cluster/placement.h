#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runners/cluster/options.h"

namespace warpath::cluster {

/// What starts a member anywhere: a program and its arguments.
using MemberCommand = std::vector<std::string>;

/// Starts members on machines; what it has started it ends. Used by one thread at a time.
class Placement {
 public:
  virtual ~Placement() = default;
  /// The number of members wanted.
  [[nodiscard]] virtual int size() const = 0;
  /// Asks for `count` more members, which will join in their own time. Throws Error(environment) if
  /// they cannot even be asked for.
  virtual void start(int count) = 0;
  /// The members asked for that have not ended, as far as can be told: waiting for a machine,
  /// starting, or running.
  [[nodiscard]] virtual int alive() = 0;
  /// What the last one that ended left in its log: a line, or empty.
  [[nodiscard]] virtual std::string last_words() const = 0;
  /// Where they run, for messages: "slurm:gpu".
  [[nodiscard]] virtual std::string text() const = 0;
};

/// Makes a placement whose members are started by `command`; what they log goes to `folder`.
using PlacementMaker = std::function<std::unique_ptr<Placement>(
    const MemberCommand& command, const std::filesystem::path& folder)>;

/// The placement that `options.members` names, or `options.kernels` if that is empty. `folder` is
/// shared by all machines and takes what members log. Throws Error(bad_input) naming the option,
/// Error(environment) if what it needs is not there.
[[nodiscard]] std::unique_ptr<Placement> make_placement(const ClusterOptions& options,
                                                        const MemberCommand& command,
                                                        const std::filesystem::path& folder);

/// The variables of this process that a member may know: where programs, devices and caches are,
/// nothing else.
[[nodiscard]] std::vector<std::string> member_environment();

/// Throws Error(bad_input) if `options.members` or `options.kernels` is not well-formed, or both
/// are given.
void check_placement(const ClusterOptions& options);

}  // namespace warpath::cluster
