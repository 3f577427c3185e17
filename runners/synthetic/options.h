#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

struct SyntheticOptions {
  static constexpr std::string_view kGroup = "synthetic";
  static constexpr OptionsOf kOf = OptionsOf::runner;
  static const OptionGroupKind& kind();

  int knobs = 6;
  int levels = 4;
  int ruggedness = 2;
  double spread = 0.5;
  double plateau = 0.1;
  double dip = 0.1;
  double failure = 0.05;
  double deception = 0;
  double noise = 0.01;
  double delay_ms = 0;
  int lanes = 1;
  bool operator==(const SyntheticOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = SyntheticOptions;
    v(&O::knobs, OptionText{"knobs", "tunables of the landscape", "Kauffman NK model"},
      Range{1, 64});
    v(&O::levels, OptionText{"levels", "values of each", ""}, Range{2, 64});
    v(&O::ruggedness,
      OptionText{"ruggedness", "other knobs that each knob's contribution depends on (k)",
                 "Kauffman NK model"},
      Range{0, 16});
    v(&O::spread, OptionText{"spread", "standard deviation of the log time over the landscape", ""},
      Range{0.0, 10.0});
    v(&O::plateau, OptionText{"plateau", "share of moves that change nothing", ""},
      Range{0.0, 1.0});
    v(&O::dip, OptionText{"dip", "share of points made slower than their neighbours", ""},
      Range{0.0, 1.0});
    v(&O::failure, OptionText{"failure", "share of points that fail, over all statuses but ok", ""},
      Range{0.0, 0.95});
    v(&O::deception,
      OptionText{"deception",
                 "share of the log time in traps whose slope leads away from the optimum",
                 "Deb and Goldberg 1993"},
      Range{0.0, 1.0});
    v(&O::noise, OptionText{"noise", "relative standard deviation of one timing sample", ""},
      Range{0.0, 10.0});
    v(&O::delay_ms, OptionText{"delay_ms", "pretended duration of an evaluation", ""},
      Range{0.0, 60000.0});
    v(&O::lanes, OptionText{"lanes", "evaluations at once", ""}, Range{1, 4096});
  }
};
static_assert(kFullyDescribed<SyntheticOptions>);

}  // namespace warpath
