#include <algorithm>

#include "register_gates.h"
#include "runners/cuda/code/pointer_origins.h"
#include "runners/cuda/gates/buffer_names.h"

namespace warpath::cuda {
namespace {

/// Stores and atomics to a tensor that the spec declares an input, even if they leave what was
/// there: a launch beside it, or the caller's other readers, would see what is there meanwhile. A
/// store counts where every buffer that its address may come from is an input; what the spec's own
/// kernel writes is allowed.
class InputStoresGate final : public CodeGate {
 public:
  InputStoresGate()
      : CodeGate({.name = "input_stores",
                  .phase = GatePhase::code,
                  .help = "no store goes to a tensor that the spec declares an input"}) {}

  [[nodiscard]] GateResult judge(const GateSubject& subject) const override {
    if (subject.ptx == nullptr || subject.code == nullptr) return not_run("there is no PTX");
    if (subject.baseline_ptx == subject.ptx) return pass("it is the spec's own kernel");
    const std::set<std::string> found =
        stored_inputs(subject, *subject.ptx,
                      [&](std::string_view entry) { return buffer_names(subject, entry); });
    if (found.empty()) return pass();
    std::set<std::string> allowed;
    if (subject.baseline_ptx != nullptr)
      allowed = stored_inputs(subject, *subject.baseline_ptx,
                              [&](std::string_view) { return main_buffer_names(subject); });
    const auto refused = std::ranges::find_if(
        found, [&](const std::string& name) { return !allowed.contains(name); });
    return refused == found.end() ? pass("like the spec's own kernel: writes " + *found.begin())
                                  : fail("writes its input " + *refused);
  }

 private:
  template <class NamesOf>
  static std::set<std::string> stored_inputs(const GateSubject& subject,
                                             const PtxModule& module,
                                             const NamesOf& names_of) {
    std::set<std::string> out;
    const BufferTraffic traffic = buffer_traffic(module);
    std::vector<std::string> inputs;  // by parameter of the traffic; empty: it may be written
    for (const PointerParameter& parameter : traffic.parameters) {
      const BufferNames names = names_of(parameter.entry->name);
      const std::string name = parameter.index < names.size() ? names[parameter.index] : "";
      const auto arg = std::ranges::find(subject.spec->io.args, name, &ArgSpec::name);
      const bool is_input = arg != subject.spec->io.args.end() && arg->role == ArgRole::input;
      inputs.push_back(is_input ? name : "");
    }
    for (const BufferAccess& access : traffic.accesses) {
      if (!access.is_write) continue;
      std::string name;
      for (std::size_t p = 0; p < inputs.size(); ++p) {
        if ((access.parameters >> p & 1U) == 0) continue;
        name = inputs[p];
        if (name.empty()) break;
      }
      if (!name.empty()) out.insert(name);
    }
    return out;
  }
};

}  // namespace

void register_gate_input_stores(GateTable& table) {
  table.add(std::make_unique<InputStoresGate>());
}

}  // namespace warpath::cuda
