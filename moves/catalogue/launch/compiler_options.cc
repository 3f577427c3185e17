#include <algorithm>
#include <set>
#include <span>

#include "moves/edit/device_limits.h"
#include "moves/edit/span_rewrite.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::string_view kPrefix = "compiler:", kValue = "value";
constexpr std::size_t kMostCaps = 5;

constexpr std::int64_t kCaps[] = {0,  24, 32,  40,  48,  56,  64,  72, 80,
                                  88, 96, 112, 128, 144, 168, 200, 232};
constexpr std::int64_t kUsages[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
constexpr std::int64_t kLevels[] = {1, 2, 3};
constexpr std::int64_t kSwitch[] = {0, 1};

/// An option of the compiler as a number. At its standard value it is absent.
struct Knob {
  std::string_view name, option;
  bool numbered;  ///< the value follows `option`
  std::span<const std::int64_t> values;
  std::int64_t standard;
  std::string_view help;
};

constexpr Knob kKnobs[] = {
    {"registers", "--maxrregcount=", true, kCaps, 0, "most registers a thread; 0: no cap"},
    {"usage", "--ptxas-options=--register-usage-level=", true, kUsages, 5,
     "how freely the assembler spends registers"},
    {"l1", "--ptxas-options=--def-load-cache=cg", false, kSwitch, 1,
     "0: loads pass the level-1 cache by"},
    {"level", "--ptxas-options=--opt-level=", true, kLevels, 3, "how much the assembler optimises"},
    {"vectorise", "--extra-device-vectorization", false, kSwitch, 0,
     "1: the compiler joins more operations of its own"},
};

std::string spelled(const Knob& knob, std::int64_t value) {
  return std::string(knob.option) + (knob.numbered ? std::to_string(value) : "");
}

std::int64_t value_in(const std::vector<std::string>& options, const Knob& knob) {
  const auto it = std::ranges::find_if(knob.values, [&](std::int64_t value) {
    return value != knob.standard &&
           std::ranges::find(options, spelled(knob, value)) != options.end();
  });
  return it == knob.values.end() ? knob.standard : *it;
}

/// That of a site, "compiler:NAME"; null if there is none.
const Knob* knob_at(std::string_view site) {
  if (!site.starts_with(kPrefix)) return nullptr;
  const auto it = std::ranges::find(kKnobs, site.substr(kPrefix.size()), &Knob::name);
  return it == std::end(kKnobs) ? nullptr : &*it;
}

/// Why the knob has no effect on the kernel; empty if it may.
std::string useless(const MoveContext& context, const Knob& knob) {
  const Variant& variant = context.variant;
  if (!context.device.is_gpu) return "the option is one of a GPU's compiler";
  if (context.spec.launch_owner == LaunchOwner::caller) return "the caller compiles the kernel";
  if (knob.name == "registers") {
    if (variant.source.find("__launch_bounds__") != std::string::npos)
      return "the bounds of the launch cap the registers";
    const auto caps = [](const std::string& option) {
      return option.find("maxrregcount=") != std::string::npos;
    };
    if (std::ranges::any_of(context.spec.compiler_options, caps))
      return "the spec caps the registers";
    if (context.spec.kernel_type == KernelType::triton && variant.tunables.contains("maxnreg"))
      return "a tunable caps the registers";
  }
  if (knob.name == "vectorise" && context.spec.kernel_type != KernelType::cuda)
    return "the option is one of CUDA C++";
  return "";
}

/// Caps with which one more block of the launch fits on a multiprocessor, those nearest to 64
/// first.
std::vector<std::int64_t> caps_of(const MoveContext& context) {
  std::int64_t threads = 1;
  const Bindings values =
      context.spec.bindings(*workloads_of(context).front(), context.variant.tunables);
  for (const Expression& extent : context.variant.launch.block)
    threads *= extent.evaluate(values, "block");
  threads = std::clamp<std::int64_t>((threads + kWarp - 1) / kWarp * kWarp, kWarp, kMaxThreads);
  std::set<std::int64_t> caps;
  for (const std::int64_t cap : kCaps) {
    if (cap == 0) continue;
    const std::int64_t blocks = kMultiprocessorRegisters / (threads * cap);
    // the largest cap for as many blocks
    const bool largest = std::ranges::none_of(kCaps, [&](std::int64_t other) {
      return other > cap && kMultiprocessorRegisters / (threads * other) == blocks;
    });
    if (blocks > 0 && largest) caps.insert(cap);
  }
  std::vector<std::int64_t> out(caps.begin(), caps.end());
  std::ranges::stable_sort(out, {}, [](std::int64_t cap) { return std::abs(cap - 64); });
  out.resize(std::min(out.size(), kMostCaps));
  return out;
}

/// Values to try, best guess first.
std::vector<std::int64_t> guesses(const MoveContext& context, const Knob& knob) {
  std::vector<std::int64_t> out;
  if (knob.name == "registers") out = caps_of(context);
  if (knob.name == "usage") out = {10, 0, 8};
  if (knob.name == "level") out = {2};
  if (knob.name == "l1") out = {0};
  if (knob.name == "vectorise") out = {1};
  out.push_back(knob.standard);
  return out;
}

/// Options of the compiler that leave results as they are: how many registers a thread may have,
/// how the assembler spends them, whether loads go through the level-1 cache.
class CompilerOptions final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "compiler_options"; }
  [[nodiscard]] bool reads_source() const override { return false; }
  [[nodiscard]] bool polishes() const override { return true; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    for (const Knob& knob : kKnobs) {
      for (const std::int64_t value : guesses(context, knob)) {
        MoveInstance instance = instance_of(knob, value);
        std::string why;
        if (apply(context, instance, why)) out.push_back(std::move(instance));
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& context,
                                            std::string_view site) const override {
    const Knob* const knob = knob_at(site);
    if (knob == nullptr || !useless(context, *knob).empty()) return {};
    return {{std::string(kValue),
             {knob->values.begin(), knob->values.end()},
             knob->standard,
             std::string(knob->help)}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    const Knob* const knob = knob_at(wanted.site);
    if (knob == nullptr) return why = "there is no " + wanted.site, std::nullopt;
    if (!takes(wanted, {kValue}, why)) return std::nullopt;
    const std::int64_t value = wanted.parameters.at(std::string(kValue));
    if (std::ranges::find(knob->values, value) == knob->values.end())
      return why = std::to_string(value) + " is no value of " + wanted.site, std::nullopt;
    if (why = useless(context, *knob); !why.empty()) return std::nullopt;
    Variant out = context.variant;
    std::vector<std::string> own;  // in the order of the table, whatever came first
    for (const Knob& other : kKnobs) {
      const std::int64_t present = value_in(out.compiler_options, other);
      if (present != other.standard) std::erase(out.compiler_options, spelled(other, present));
      const std::int64_t next = &other == knob ? value : present;
      if (next != other.standard) own.push_back(spelled(other, next));
    }
    out.compiler_options.insert(out.compiler_options.end(), own.begin(), own.end());
    if (value == value_in(context.variant.compiler_options, *knob))
      return why = wanted.site + " has this value already", std::nullopt;
    return out;
  }

  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& done) const override {
    const Knob* const knob = knob_at(done.site);
    if (knob == nullptr) return std::nullopt;
    return instance_of(*knob, value_in(context.variant.compiler_options, *knob));
  }

 private:
  static MoveInstance instance_of(const Knob& knob, std::int64_t value) {
    return {"compiler_options",
            std::string(kPrefix) + std::string(knob.name),
            {{std::string(kValue), value}}};
  }
};

}  // namespace

void register_move_compiler_options(MoveRegistry& registry) {
  registry.add("compiler_options", "options of the compiler that leave the results as they are",
               [] { return std::make_unique<CompilerOptions>(); });
}

}  // namespace warpath
