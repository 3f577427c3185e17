#pragma once

#include "experiments/console/document.h"
#include "experiments/report/run_material.h"

namespace warpath {

/// Sections on a whole search. What was tried: a row a move.
void add_tried(const RecordedRun& run, Document& to);
/// What was refused, by which gate.
void add_refusals(const RecordedRun& run, Document& to);
/// Where the seconds went.
void add_cost(const RecordedRun& run, Document& to);
/// Where it took place, and the options that differ from their defaults.
void add_environment(const RunMaterial& material, Document& to);

}  // namespace warpath
