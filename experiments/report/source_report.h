#pragma once

#include <span>
#include <string>
#include <vector>

namespace warpath {

/// What the source model sees in files: of each kernel its parameters, opaque spans, loops with
/// their class, accesses and thread indices (parameters are taken to be apart); last a line over
/// all files with the number of kernels, of those without opaque span, and the parser's speed.
/// Throws Error(bad_input) for a file that cannot be read.
void print_source_reports(std::span<const std::string> files);

}  // namespace warpath
