#include <algorithm>
#include <array>

#include "moves/edit/sites.h"
#include "moves/triton/triton_move.h"
#include "register_moves.h"

namespace warpath {
namespace {

using python::Node;
using python::NodeKind;

/// Values of `policy`.
constexpr std::int64_t kEvictFirstPolicy = 1, kLevel2Policy = 2, kStreamingPolicy = 3;

struct CacheKeyword {
  std::string_view keyword, value;
};
CacheKeyword keyword_of(std::int64_t policy) {
  switch (policy) {
    case kEvictFirstPolicy:
      return {"eviction_policy", "\"evict_first\""};
    case kLevel2Policy:
      return {"cache_modifier", "\".cg\""};
    default:
      return {"cache_modifier", "\".cs\""};
  }
}

/// A cache hint on the loads and stores of a tensor whose elements a program touches once. Site
/// "argument:NAME" of the spec. No policy that keeps lines: what it leaves in the caches would
/// outlive the launch.
class TritonCachePolicy final : public TritonMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "triton_cache_policy"; }

 private:
  [[nodiscard]] std::vector<Tunable> parameters(std::string_view site) const override {
    if (!site.starts_with(kArgumentPrefix)) return {};
    return {Tunable{"policy",
                    {kEvictFirstPolicy, kLevel2Policy, kStreamingPolicy},
                    kEvictFirstPolicy,
                    "1: first to be evicted, 2: level 2 only (.cg), 3: streaming stores (.cs)"}};
  }

  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext& context,
                                                     const TritonKernel&) const override {
    std::vector<MoveInstance> out;
    for (const ArgSpec& arg : context.spec.io.args) {
      if (arg.type != ArgType::tensor) continue;
      for (const std::int64_t policy : {kEvictFirstPolicy, kLevel2Policy, kStreamingPolicy})
        out.push_back(
            {std::string(name()), std::string(kArgumentPrefix) + arg.name, {{"policy", policy}}});
    }
    return out;
  }

  [[nodiscard]] std::vector<Edit> edits(const MoveContext&,
                                        const TritonKernel& kernel,
                                        const MoveInstance& wanted,
                                        std::string& why) const override {
    const std::int64_t policy = wanted.parameters.at("policy");
    const CacheKeyword hint = keyword_of(policy);
    std::vector<const TritonAccess*> accesses;
    for (const TritonAccess& access : kernel.accesses()) {
      if (access.argument == nullptr)
        return why = "an access is of an unknown tensor", std::vector<Edit>{};
      if (std::string(kArgumentPrefix) + access.argument->name == wanted.site)
        accesses.push_back(&access);
    }
    if (accesses.empty()) return why = "no access at " + wanted.site, std::vector<Edit>{};
    std::vector<Edit> out;
    bool changes = false;
    std::array<std::size_t, 2> count{};
    for (const TritonAccess* const access : accesses) {
      if (++count[access->store ? 1 : 0] > 1)
        return why = "the kernel touches it more than once", std::vector<Edit>{};
      why = refusal(kernel, *access, policy);
      if (!why.empty()) return {};
      changes = hint_access(kernel, *access->call, hint, out) || changes;
    }
    if (!changes) why = "the accesses have that hint";
    return out;
  }

  static std::string refusal(const TritonKernel& kernel,
                             const TritonAccess& access,
                             std::int64_t policy) {
    const Node& call = *access.call;
    if (policy == kStreamingPolicy && !access.store) return "loads have no such hint";
    if (call.argument("volatile") != nullptr) return "an access is volatile";
    if (call.argument("eviction_policy") != nullptr && call.argument("cache_modifier") != nullptr)
      return "an access has two hints";
    for (const std::string_view keyword : {"eviction_policy", "cache_modifier"}) {
      const Node* const known = call.argument(keyword);
      if (known != nullptr && !known->is(NodeKind::string))
        return std::string(keyword) + " is no literal";
    }
    const Node& address = *access.address;
    const bool is_block = kernel.reaches(address, [&](const Node& node) {
      return kernel.calls(node, "arange") || kernel.calls(node, "make_block_ptr");
    });
    if (!is_block) return "an access is of one element a program";
    // in a loop, every iteration must have elements of its own
    for (std::size_t around = kernel.statement(access.statement).parent;
         around != python::Statement::kNone; around = kernel.statement(around).parent) {
      const python::Statement& one = kernel.statement(around);
      if (one.word == "while" || (one.word == "for" && !moves_on(kernel, address, around)))
        return "a loop may touch the same elements again";
    }
    return "";
  }

  /// The address depends on the loop's variable, or on something that the loop changes.
  static bool moves_on(const TritonKernel& kernel, const Node& address, std::size_t loop) {
    return kernel.reaches(address, [&](const Node& node) {
      if (!node.is(NodeKind::name)) return false;
      const auto gives = [&](const python::Statement& one) {
        return !one.targets.empty() && one.targets.front() == node.text;
      };
      if (gives(kernel.statement(loop))) return true;
      for (std::size_t i = loop + 1; i < kernel.last(); ++i) {
        const python::Statement& one = kernel.statement(i);
        if (one.kind == python::StatementKind::augmented && gives(one) &&
            kernel.text().is_within(i, loop))
          return true;
      }
      return false;
    });
  }

  /// True if the call does not have the hint yet.
  static bool hint_access(const TritonKernel& kernel,
                          const Node& call,
                          const CacheKeyword& hint,
                          std::vector<Edit>& out) {
    const std::string text = std::string(hint.keyword) + "=" + std::string(hint.value);
    for (std::size_t i = 0; i < call.keywords.size(); ++i) {
      const std::string_view keyword = call.keywords[i];
      if (keyword != "eviction_policy" && keyword != "cache_modifier") continue;
      const auto begin = static_cast<std::size_t>(keyword.data() - kernel.text().source().data());
      const python::Span span{begin, call.children[i]->outer.end};
      if (kernel.text().text(span) == text) return false;
      out.push_back({span.begin, span.end, text});
      return true;
    }
    return set_keyword(kernel.text(), call, hint.keyword, hint.value, out);
  }
};

}  // namespace

void register_move_triton_cache_policy(MoveRegistry& registry) {
  registry.add("triton_cache_policy", "a cache hint on the accesses of a tensor in Triton",
               [] { return std::make_unique<TritonCachePolicy>(); });
}

}  // namespace warpath
