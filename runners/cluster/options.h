#pragma once

#include <string>
#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

/// Which machines evaluate or search, and how they reach this one. None of it changes what an
/// evaluation answers.
struct ClusterOptions {
  static constexpr std::string_view kGroup = "cluster";
  static constexpr OptionsOf kOf = OptionsOf::runner;
  static const OptionGroupKind& kind();

  std::string members;
  std::string kernels;
  std::string address;
  int port = 0;
  std::string program;
  std::string sbatch;
  std::string folder;
  double silence_seconds = 60;
  bool operator==(const ClusterOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = ClusterOptions;
    v(&O::members,
      OptionText{"members",
                 "machines that evaluate, each with a runner of its own: slurm:PARTITION[:N], "
                 "processes:N on this machine, or commands:FILE, a command on each line that "
                 "starts a program elsewhere (ssh HOST); empty: this process alone",
                 "docs/cluster.md", "cluster"}
          .shaping_nothing(),
      AnyValue{});
    v(&O::kernels,
      OptionText{"kernels",
                 "machines that search, each a kernel of the batch at a time with an engine of its "
                 "own, named as `members`; they and this one share the output folder",
                 "docs/cluster.md", "site"}
          .shaping_nothing(),
      AnyValue{});
    v(&O::address,
      OptionText{"address",
                 "name or number under which members reach this machine; empty: its host name",
                 "docs/cluster.md"}
          .shaping_nothing(),
      AnyValue{});
    v(&O::port,
      OptionText{"port", "port that members connect to; 0: any that is free", "docs/cluster.md"}
          .shaping_nothing(),
      Range{0, 65535});
    v(&O::program,
      OptionText{"program", "path of this program on the members' machines; empty: as here",
                 "docs/cluster.md"}
          .shaping_nothing(),
      AnyValue{});
    v(&O::sbatch,
      OptionText{"sbatch", "further arguments of sbatch (-G1 --time=4:00:00)", "docs/cluster.md"}
          .shaping_nothing(),
      AnyValue{});
    v(&O::folder,
      OptionText{"folder",
                 "folder that all machines share, for the members' key and logs; empty: the one of "
                 "caches",
                 "docs/cluster.md"}
          .shaping_nothing(),
      AnyValue{});
    v(&O::silence_seconds,
      OptionText{"silence_seconds", "a member that does not answer for so long is lost",
                 "docs/cluster.md"}
          .shaping_nothing(),
      Range{1.0, 3600.0});
  }
};
static_assert(kFullyDescribed<ClusterOptions>);

}  // namespace warpath
