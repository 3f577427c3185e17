#include <algorithm>
#include <optional>
#include <set>

#include "register_gates.h"
#include "runners/cuda/code/pointer_origins.h"
#include "runners/cuda/code/thread_slots.h"
#include "runners/cuda/compile/compile.h"
#include "runners/cuda/gates/buffer_names.h"

namespace warpath::cuda {
namespace {

/// What a launch may see as one buffer: parameters of one name, and those that the spec says may
/// alias.
bool may_be_one(const KernelSpec& spec, const std::string& a, const std::string& b) {
  if (a == b) return true;
  return std::ranges::any_of(spec.io.may_alias, [&](const auto& group) {
    return std::ranges::find(group, a) != group.end() && std::ranges::find(group, b) != group.end();
  });
}

/// The read-only path of a multiprocessor (`ld.global.nc`: __ldg, loads through `const
/// __restrict__`) keeps lines that stores of the same launch do not reach: what is written and read
/// back through it may be old. Refuses a launch that does both to one buffer, unless each thread
/// reads what it alone writes, and before it does, or the spec's own kernel does it to the same
/// buffer.
class ReadOnlyPathGate final : public CodeGate {
 public:
  ReadOnlyPathGate()
      : CodeGate({.name = "read_only_path",
                  .phase = GatePhase::code,
                  .help = "nothing that a launch writes is read back through the path that is not "
                          "kept coherent"}) {}

  [[nodiscard]] GateResult judge(const GateSubject& subject) const override {
    if (subject.ptx == nullptr || subject.code == nullptr) return not_run("there is no PTX");
    const BufferTraffic traffic = buffer_traffic(*subject.ptx);
    const bool is_own = subject.baseline_ptx == subject.ptx;
    // read off the spec's own kernel where there is something to allow
    std::optional<std::set<std::string>> allowed;
    std::string known;
    for (const PtxFunction& function : subject.ptx->functions) {
      if (!function.is_entry) continue;
      for (const std::string& conflict :
           conflicts(traffic, function, buffer_names(subject, function.name), *subject.spec)) {
        if (!is_own && !allowed) allowed = conflicts_of_baseline(subject);
        if (!is_own && !allowed->contains(conflict)) {
          return fail(conflict + " through the read-only path (ld.global.nc) in the launch of " +
                      std::string(function.name) + ": what it reads may be old");
        }
        known += (known.empty() ? "like the spec's own kernel: " : "; ") + conflict +
                 " through the read-only path";
      }
    }
    if (traffic.untraced_reads > 0 && (traffic.written != 0 || traffic.untraced_writes > 0)) {
      known += (known.empty() ? "" : "; ") + std::to_string(traffic.untraced_reads) +
               " reads through the read-only path cannot be traced to a buffer";
    }
    return pass(known);
  }

 private:
  static std::set<std::string> conflicts_of_baseline(const GateSubject& subject) {
    std::set<std::string> out;
    if (subject.baseline_ptx == nullptr) return out;
    const BufferTraffic own = buffer_traffic(*subject.baseline_ptx);
    for (const PtxFunction& function : subject.baseline_ptx->functions) {
      if (function.is_entry)
        out.merge(conflicts(own, function, main_buffer_names(subject), *subject.spec));
    }
    return out;
  }

  /// "writes y and reads it back"
  static std::set<std::string> conflicts(const BufferTraffic& traffic,
                                         const PtxFunction& entry,
                                         const BufferNames& names,
                                         const KernelSpec& spec) {
    std::set<std::string> out;
    const auto name_of = [&](std::size_t index) {
      return index < names.size() ? names[index] : std::string(entry.parameters[index].name);
    };
    for (std::size_t w = 0; w < traffic.parameters.size(); ++w) {
      if ((traffic.written >> w & 1U) == 0 || traffic.parameters[w].entry != &entry) continue;
      for (std::size_t r = 0; r < traffic.parameters.size(); ++r) {
        if ((traffic.read_noncoherently >> r & 1U) == 0 || traffic.parameters[r].entry != &entry)
          continue;
        const std::string written = name_of(traffic.parameters[w].index),
                          read = name_of(traffic.parameters[r].index);
        if (!may_be_one(spec, written, read) || stays_in_own_slots(traffic, w, r)) continue;
        out.insert(written == read ? "writes " + written + " and reads it back"
                                   : "writes " + written + " and reads " + read +
                                         ", which may be the same memory,");
      }
    }
    return out;
  }
};

}  // namespace

void register_gate_read_only_path(GateTable& table) {
  table.add(std::make_unique<ReadOnlyPathGate>());
}

}  // namespace warpath::cuda
