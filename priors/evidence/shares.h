#pragma once

#include <vector>

#include "engine/plugin/proposal.h"

namespace warpath {

/// Scales `p` (finite, >= 0) to sum 1, with a result independent of its order; uniform if nothing
/// in it is positive.
void normalise(std::vector<double>& p);
/// Distributes the share `floor` of the prior `p` evenly, so that every proposal stays possible.
void spread_evenly(std::vector<double>& p, double floor);
/// Proportional to the proposers' weights; one that is not a positive number counts as 0.
void proposer_shares(const std::vector<Proposal>& proposals, std::vector<double>& out);
/// Multiplies the prior `p` by the expected gains, prunes it by them (prune_softly) and spreads
/// `floor`.
void weigh_by_gains(const std::vector<double>& gains,
                    double least_gain,
                    double floor,
                    std::vector<double>& p);
/// Removes the probability of proposals with less expected gain than `least`, except for a floor
/// that is distributed afterwards; if that affects all, changes nothing.
void prune_softly(const std::vector<double>& gains, double least, std::vector<double>& p);

}  // namespace warpath
