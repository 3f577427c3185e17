#include "priors/evidence/roofline.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "priors/evidence/axis_json.h"
#include "priors/evidence/embedded.h"

namespace warpath {

template <>
struct Description<Method> {
  static constexpr std::string_view title = "method";
  static constexpr std::string_view help =
      "a named optimisation, its trigger and the moves that carry it out";
  template <class V>
  static void fields(V& v) {
    using T = Method;
    v(&T::id, KeyText{"id", "name", true});
    v(&T::axis, KeyText{"axis", "what it helps", true});
    v(&T::priority, KeyText{"priority", "1 first", true});
    v(&T::compute_capability, KeyText{"compute_capability", "least"});
    v(&T::fact, KeyText{"fact", "of its trigger"});
    v(&T::good, KeyText{"good", "value of trigger strength 0"});
    v(&T::bad, KeyText{"bad", "value of trigger strength 1"});
    v(&T::moves, KeyText{"moves", "that carry it out"});
  }
};

namespace {

constexpr double kNearPeak = 0.15;
constexpr double kNegligible = 0.10;
constexpr int kSlots = 3, kMostSlots = 2;
constexpr std::array<Axis, 3> kByName{Axis::compute, Axis::memory, Axis::latency};
constexpr std::array<Axis, 3> kByLeverage{Axis::memory, Axis::latency, Axis::compute};

std::size_t at(Axis axis) {
  return static_cast<std::size_t>(axis);
}

using Weights = std::array<double, 3>;  // by axis

Weights weights_of(const RooflineGaps& gaps) {
  Weights out{};
  for (const Axis axis : kByName)
    out[at(axis)] = gaps.held_by(axis) < kNegligible ? 0 : gaps.held_by(axis);
  return out;
}

double sum(const Weights& x) {
  return x[0] + x[1] + x[2];
}
int sum(const std::array<int, 3>& x) {
  return x[0] + x[1] + x[2];
}

/// Slots by axis before rounding; empty where no weight counts.
std::optional<Weights> shares(Weights out) {
  const double total = sum(out);
  if (total < 0.01) return std::nullopt;
  for (double& x : out) x = kSlots * x / total;
  return out;
}

int half_to_even(double x) {
  const double below = std::floor(x);
  const double rest = x - below;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
  return static_cast<int>(below) + (up ? 1 : 0);
}

/// Gives what the cap cut off to the axes below it, largest weight first.
void hand_out(int overflow, const Weights& weights, std::array<int, 3>& slots) {
  std::array<Axis, 3> order = kByName;
  std::ranges::stable_sort(order, [&](Axis a, Axis b) { return weights[at(a)] > weights[at(b)]; });
  for (const Axis axis : order) {
    const int taken = std::min(overflow, kMostSlots - slots[at(axis)]);
    slots[at(axis)] += taken;
    overflow -= taken;
  }
}

void add_one(const Weights& raw, std::array<int, 3>& slots) {
  std::optional<Axis> best;
  for (const Axis axis : kByLeverage) {
    if (slots[at(axis)] >= kMostSlots) continue;
    if (!best || raw[at(axis)] - slots[at(axis)] > raw[at(*best)] - slots[at(*best)]) best = axis;
  }
  ++slots[at(best.value())];
}

void take_one(const Weights& raw, std::array<int, 3>& slots) {
  std::optional<Axis> worst;
  for (auto axis = kByLeverage.rbegin(); axis != kByLeverage.rend(); ++axis) {
    if (slots[at(*axis)] == 0) continue;
    if (!worst || raw[at(*axis)] - slots[at(*axis)] < raw[at(*worst)] - slots[at(*worst)])
      worst = *axis;
  }
  --slots[at(worst.value())];
}

/// The largest of the facts that are known.
std::optional<Fact> largest_of(const DiagnosisView& view,
                               std::initializer_list<std::string_view> names) {
  std::optional<Fact> best;
  for (const std::string_view name : names) {
    const auto fact = view.recorded(name);
    if (fact && (!best || fact->value > best->value)) best = fact;
  }
  return best;
}

}  // namespace

double RooflineGaps::held_by(Axis axis) const {
  const double arithmetic = compute_known ? 1 - compute : 0,
               traffic = memory_known ? 1 - memory : 0;
  return axis == Axis::compute  ? arithmetic
         : axis == Axis::memory ? traffic
                                : 1 - std::max(arithmetic, traffic);
}
double RooflineGaps::of(Axis axis) const {
  return axis == Axis::compute ? compute : axis == Axis::memory ? memory : latency;
}
int MethodBudget::of(Axis axis) const {
  return axis == Axis::compute ? compute : axis == Axis::memory ? memory : latency;
}

RooflineGaps roofline_gaps(const DiagnosisView& view) {
  RooflineGaps gaps;
  const auto counter = largest_of(view, {"tensor_pipe", "fma_pipe", "sm_throughput"});
  const auto compute = counter ? counter : view.get("sm_utilisation");
  const auto memory = view.get("dram_utilisation");
  const auto stall =
      largest_of(view, {"stall_long_scoreboard", "stall_short_scoreboard", "stall_mio_throttle",
                        "stall_math_pipe_throttle", "stall_lg_throttle", "stall_barrier",
                        "stall_wait", "stall_membar"});
  const auto latency = stall ? stall : view.get("latency_headroom");
  gaps.compute_known = compute.has_value();
  gaps.memory_known = memory.has_value();
  gaps.known = compute || memory;
  if (!gaps.known) return gaps;
  gaps.source = FactSource::measured;
  const auto take = [&](const std::optional<Fact>& fact, double& gap, bool is_gap) {
    if (!fact) return;
    gap = std::clamp(is_gap ? fact->value : 1 - fact->value, 0.0, 1.0);
    gaps.source = weaker(gaps.source, fact->source);
  };
  take(compute, gaps.compute, false);
  take(memory, gaps.memory, false);
  take(latency, gaps.latency, true);
  return gaps;
}

bool near_peak(const RooflineGaps& gaps) {
  return gaps.compute < kNearPeak && gaps.memory < kNearPeak && gaps.latency < kNearPeak;
}

std::string_view bound_name(const RooflineGaps& gaps) {
  if (near_peak(gaps)) return "near_peak";
  const Axis most =
      *std::ranges::max_element(kByName, {}, [&](Axis axis) { return gaps.held_by(axis); });
  return most == Axis::compute ? "compute" : most == Axis::memory ? "bandwidth" : "latency";
}

MethodBudget method_budget(const RooflineGaps& gaps) {
  return share_slots(gaps.held_by(Axis::compute), gaps.held_by(Axis::memory),
                     gaps.held_by(Axis::latency));
}

MethodBudget share_slots(double compute, double memory, double latency) {
  Weights weights{};
  for (const auto& [axis, weight] :
       {std::pair{Axis::compute, compute}, {Axis::memory, memory}, {Axis::latency, latency}})
    weights[at(axis)] = weight < kNegligible ? 0 : weight;
  const auto raw = shares(weights);
  if (!raw) return {1, 1, 1};
  std::array<int, 3> slots{};
  int overflow = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i] = half_to_even((*raw)[i]);
    overflow += std::max(0, slots[i] - kMostSlots);
    slots[i] = std::min(slots[i], kMostSlots);
  }
  hand_out(overflow, weights, slots);
  while (sum(slots) < kSlots) add_one(*raw, slots);
  while (sum(slots) > kSlots) take_one(*raw, slots);
  return {slots[at(Axis::compute)], slots[at(Axis::memory)], slots[at(Axis::latency)]};
}

double axis_factor(const RooflineGaps& gaps, Axis axis) {
  const auto raw = shares(weights_of(gaps));
  if (!gaps.known || !raw || near_peak(gaps)) return 1;
  return 0.5 + 0.5 * std::min<double>(kMostSlots, (*raw)[at(axis)]);
}

std::optional<double> Method::trigger_strength(const DiagnosisView& view) const {
  if (fact.empty()) return std::nullopt;
  const auto found = view.get(fact);
  if (!found) return std::nullopt;
  return std::clamp((found->value - good) / (bad - good), 0.0, 1.0) * confidence(found->source);
}

MethodRegistry MethodRegistry::parse(std::string_view text, const std::string& file) {
  const nlohmann::json document = parse_json(text, file);
  const JsonCursor root(document, file);
  MethodRegistry registry;
  Codec<std::vector<Method>>::read(root.at("methods"), registry.methods_);
  Codec<std::vector<std::vector<std::string>>>::read(root.at("coupled"), registry.coupled_);
  Codec<std::vector<std::vector<std::string>>>::read(root.at("exclusive"), registry.exclusive_);
  Codec<std::vector<std::string>>::read(root.at("structural"), registry.structural_);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < registry.methods_.size(); ++i) {
    const Method& method = registry.methods_[i];
    const JsonCursor place = root.at("methods").element(i);
    if (!seen.insert(method.id).second) place.at("id").fail("an id that no other method has");
    if (!method.fact.empty() && method.good == method.bad)
      place.at("bad").fail("another value than good");
  }
  for (const char* key : {"coupled", "exclusive"}) {
    const auto& pairs =
        key == std::string_view("coupled") ? registry.coupled_ : registry.exclusive_;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      for (const std::string& id : pairs[i]) {
        if (!seen.contains(id)) root.at(key).element(i).fail("ids of methods");
      }
    }
  }
  return registry;
}

const MethodRegistry& MethodRegistry::built_in() {
  static const MethodRegistry kRegistry =
      parse(embedded_methods().text, std::string(embedded_methods().name));
  return kRegistry;
}

const Method* MethodRegistry::find(std::string_view id) const {
  const auto it = std::ranges::find(methods_, id, &Method::id);
  return it == methods_.end() ? nullptr : &*it;
}

std::vector<Axis> MethodRegistry::axes_of(std::string_view move) const {
  std::set<Axis> axes;
  for (const Method& method : methods_) {
    if (std::ranges::find(method.moves, move) != method.moves.end()) axes.insert(method.axis);
  }
  for (const Rule& rule : RuleTable::built_in().rules()) {
    if (rule.raises.contains(std::string(move))) axes.insert(rule.axis);
  }
  if (axes.empty()) return {kByName.begin(), kByName.end()};
  return {axes.begin(), axes.end()};
}

}  // namespace warpath
