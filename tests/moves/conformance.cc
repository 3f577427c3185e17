#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "engine/text/source_edit.h"
#include "engine/text/tokens.h"
#include "register_moves.h"

using namespace warpath;

TEST_SUITE_BEGIN("move_conformance");

namespace {

const std::string kRoot = WARPATH_SOURCE_ROOT;

std::vector<KernelSpec> all_specs() {
  std::vector<KernelSpec> out = load_specs(kRoot + "/specs");
  for (const char* const more : {"/specs/triton", "/specs/ptx", "/tests/data/move_fixtures.json"}) {
    for (KernelSpec& spec : load_specs(kRoot + more)) out.push_back(std::move(spec));
  }
  return out;
}

std::vector<std::unique_ptr<Move>> all_moves() {
  const MoveRegistry& registry = registered_moves();
  std::vector<std::unique_ptr<Move>> out;
  for (const auto& [name, entry] : registry.entries()) {
    out.push_back(entry.make());
    CHECK(out.back()->name() == name);
  }
  return out;
}

/// A device with every instruction that a move may ask for.
DeviceFacts full_device() {
  DeviceFacts device;
  device.runner = "cuda", device.arch = "sm_90a", device.is_gpu = true;
  device.multiprocessors = 132, device.max_smem_per_block_bytes = 227 << 10;
  return device;
}

/// Calls check(move, context) for every registered move at every baseline.
template <class Check>
void everywhere(Check&& check) {
  const DeviceFacts device = full_device();
  for (const KernelSpec& spec : all_specs()) {
    const Variant variant = baseline_variant(spec);
    for (const auto& move : all_moves()) {
      CAPTURE(spec.name);
      CAPTURE(std::string(move->name()));
      check(*move, MoveContext{spec, variant, device});
    }
  }
}

/// What the move lists at a baseline; one enumeration serves all test cases.
const std::vector<MoveInstance>& listed_by(const Move& move, const MoveContext& context) {
  static std::map<std::pair<std::string, std::string>, std::vector<MoveInstance>> kept;
  const auto [it, added] = kept.try_emplace({context.spec.name, std::string(move.name())});
  if (added) it->second = move.enumerate(context);
  return it->second;
}

std::vector<std::string> comments_of(const std::string& source) {
  std::vector<std::string> out;
  for (const Token& token : tokenize(source).tokens) {
    if (token.kind == TokenKind::comment) out.push_back(spelling(source, token));
  }
  return out;
}

/// `few` is what is left of `all` when some are taken out.
bool holds_in_order(const std::vector<std::string>& all, const std::vector<std::string>& few) {
  std::size_t found = 0;
  for (const std::string& one : all) found += found < few.size() && one == few[found] ? 1U : 0U;
  return found == few.size();
}

/// Moves that leave the kernel's structure as it is.
bool edits_one_place(std::string_view move) {
  return move == "change_block_sizes" || move == "qualify_pointers" || move == "set_tunable" ||
         move == "unroll_loops";
}

/// Length of the longest common prefix plus suffix: what one contiguous edit would have left.
std::size_t kept_bytes(const std::string& a, const std::string& b) {
  const std::size_t n = std::min(a.size(), b.size());
  std::size_t head = 0, tail = 0;
  while (head < n && a[head] == b[head]) ++head;
  while (tail < n - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  return head + tail;
}

}  // namespace

TEST_CASE("every move finds something to do somewhere") {
  std::set<std::string> idle;
  for (const auto& move : all_moves()) idle.insert(std::string(move->name()));
  everywhere([&](const Move& move, const MoveContext& context) {
    if (!listed_by(move, context).empty()) idle.erase(std::string(move.name()));
  });
  std::string names;
  for (const std::string& name : idle) names += name + " ";
  CAPTURE(names);
  CHECK(idle.empty());
}

TEST_CASE("enumeration repeats itself, lists nothing twice and keeps sites together") {
  everywhere([](const Move& move, const MoveContext& context) {
    const std::vector<MoveInstance>& listed = listed_by(move, context);
    CHECK(listed == move.enumerate(context));
    CHECK(std::set<MoveInstance>(listed.begin(), listed.end()).size() == listed.size());
    std::set<std::string> left;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      CHECK(listed[i].move == move.name());
      CHECK(MoveInstance::parse(listed[i].text(), "test") == listed[i]);
      if (i > 0 && listed[i].site != listed[i - 1].site)
        CHECK(left.insert(listed[i - 1].site).second);
      CHECK_FALSE(left.contains(listed[i].site));
    }
  });
}

TEST_CASE(
    "what is enumerated applies, the same way each time, and makes another kernel of an untouched "
    "input") {
  everywhere([](const Move& move, const MoveContext& context) {
    const Variant before = context.variant;
    std::set<Hash128> keys{variant_key(before)};
    for (const MoveInstance& instance : listed_by(move, context)) {
      CAPTURE(instance.text());
      std::string why;
      const auto after = move.apply(context, instance, why);
      REQUIRE(after.has_value());
      CHECK(*after == *move.apply(context, instance, why));
      CHECK(context.variant == before);
      CHECK(keys.insert(variant_key(*after)).second);
    }
  });
}

TEST_CASE("an edited source keeps its comments, its kernel and all bytes outside the edit") {
  everywhere([](const Move& move, const MoveContext& context) {
    const std::string& before = context.variant.source;
    if (context.spec.kernel_type != KernelType::cuda) return;
    for (const MoveInstance& instance : listed_by(move, context)) {
      std::string why;
      const std::string after = move.apply(context, instance, why)->source;
      CAPTURE(after);
      if (after == before) continue;
      CHECK(holds_in_order(comments_of(after), comments_of(before)));
      const CodeText code(after);
      CHECK_FALSE(code.ambiguous);
      CHECK(code.balanced);
      CHECK(find_kernel(code, context.variant.kernel_name).has_value());
      if (edits_one_place(move.name()) && instance.site != "arguments")
        CHECK(kept_bytes(before, after) + 40 >= before.size());
    }
  });
}

TEST_CASE("an inverse leads back to the key it started from") {
  int inverses = 0;
  everywhere([&](const Move& move, const MoveContext& context) {
    for (const MoveInstance& instance : listed_by(move, context)) {
      const auto back = move.inverse(context, instance);
      if (!back) continue;
      ++inverses;
      CAPTURE(instance.text());
      CAPTURE(back->text());
      std::string why;
      const Variant after = *move.apply(context, instance, why);
      const auto again = move.apply(MoveContext{context.spec, after, context.device}, *back, why);
      CAPTURE(why);
      REQUIRE(again.has_value());
      CHECK(variant_key(*again) == variant_key(context.variant));
    }
  });
  CHECK(inverses > 100);
}

TEST_CASE("the domain of a site holds every listed parameter value") {
  everywhere([](const Move& move, const MoveContext& context) {
    for (const MoveInstance& instance : listed_by(move, context)) {
      const std::vector<Tunable> domain = move.domain(context, instance.site);
      if (domain.empty()) continue;
      CAPTURE(instance.text());
      CHECK(domain.size() == instance.parameters.size());
      for (const Tunable& t : domain) {
        CAPTURE(t.name);
        CHECK(std::is_sorted(t.values.begin(), t.values.end()));
        CHECK(std::binary_search(t.values.begin(), t.values.end(), instance.parameters.at(t.name)));
        CHECK(std::binary_search(t.values.begin(), t.values.end(), t.default_value));
      }
    }
  });
}

TEST_CASE("what a move never listed is refused with one line") {
  everywhere([](const Move& move, const MoveContext& context) {
    const std::string name(move.name());
    std::vector<MoveInstance> strange{{name, "", {}},
                                      {name, "nowhere", {{"value", 1}}},
                                      {name, "loop:99999", {{"factor", 4}}},
                                      {name, "argument:", {{"const", 1}, {"restrict", 1}}},
                                      {name, "tunable:", {{"value", 1}}},
                                      {name, "launch", {{"block_x", -1}}}};
    for (MoveInstance instance : listed_by(move, context)) {
      instance.parameters["extra"] = 1;
      strange.push_back(instance);
      const bool bare = instance.parameters.size() == 1;
      instance.parameters.clear();
      if (!bare) strange.push_back(instance);
    }
    for (const MoveInstance& instance : strange) {
      CAPTURE(instance.text());
      std::string why;
      CHECK_FALSE(move.apply(context, instance, why).has_value());
      CHECK_FALSE(why.empty());
      CHECK(why.find('\n') == std::string::npos);
    }
  });
}

TEST_CASE("moves survive sources that are no programs") {
  const DeviceFacts device;
  const KernelSpec spec = load_specs(kRoot + "/specs/softmax_scaled.json").front();
  for (const std::string source :
       {"", "}", "for", "for(", "__global__ void softmax_scaled(", "#pragma unroll 4", "\\", "/*",
        "R\"(", "__global__ void softmax_scaled(float*){for(;;)",
        "__global__ void softmax_scaled(,,,,){for(;;);}"}) {
    Variant variant = baseline_variant(spec);
    variant.source = source;
    for (const auto& move : all_moves()) {
      const MoveContext context{spec, variant, device};
      for (const MoveInstance& instance : move->enumerate(context)) {
        std::string why;
        static_cast<void>(move->apply(context, instance, why));
        static_cast<void>(move->inverse(context, instance));
      }
    }
    CHECK(variant.source == source);
  }
}

TEST_SUITE_END();
