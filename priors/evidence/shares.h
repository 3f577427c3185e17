#pragma once

#include <vector>

#include "engine/plugin/move.h"

namespace warpath {

/// Scales `p` (finite, >= 0) to sum 1 in an order that no permutation of it changes; uniform if
/// nothing in it is positive.
void normalise(std::vector<double>& p);
/// Shares `floor` of the prior `p` evenly, so that every proposal stays possible.
void spread_evenly(std::vector<double>& p, double floor);
/// In proportion to the proposers' weights; one that is no positive number counts as 0.
void proposer_shares(const std::vector<Proposal>& proposals, std::vector<double>& out);
/// Takes what `p` gives to proposals of less expected gain than `least`, all but a floor that is
/// spread afterwards; where all are, nothing.
void prune_softly(const std::vector<double>& gains, double least, std::vector<double>& p);

}  // namespace warpath
