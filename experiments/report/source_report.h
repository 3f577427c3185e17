#pragma once

#include <span>
#include <string>
#include <vector>

namespace warpath {

/// The source model's view of files: for each kernel its parameters, opaque spans, loops with their
/// class, accesses and thread indices (parameters are assumed not to alias); finally a line over
/// all files with the number of kernels, of those without opaque spans, and the parser's speed.
/// Throws Error(bad_input) for an unreadable file.
void print_source_reports(std::span<const std::string> files);

}  // namespace warpath
