#include "runners/cuda/plan/gate_table.h"

#include <algorithm>

#include "engine/base/error.h"
#include "register_gates.h"

namespace warpath::cuda {
namespace {

template <class Kind>
const Kind* find_in(const std::vector<std::unique_ptr<Kind>>& gates, std::string_view name) {
  const auto it =
      std::ranges::find(gates, name, [](const auto& gate) { return gate->declared().name; });
  return it == gates.end() ? nullptr : it->get();
}

}  // namespace

GateTable::GateTable() {
  register_gates(*this);
}

void GateTable::add(const GateInfo& info) {
  WARPATH_CHECK(std::ranges::find(rows_, info.name, &GateInfo::name) == rows_.end());
  rows_.push_back(info);
}

void GateTable::add(std::unique_ptr<CodeGate> gate) {
  WARPATH_CHECK(gate->declared().phase <= GatePhase::code);
  add(gate->declared());
  code_gates_.push_back(std::move(gate));
}

void GateTable::add(std::unique_ptr<DeviceGate> gate) {
  WARPATH_CHECK(gate->declared().phase == GatePhase::device);
  add(gate->declared());
  device_gates_.push_back(std::move(gate));
}

void GateTable::add(std::unique_ptr<FinalistGate> gate) {
  WARPATH_CHECK(gate->declared().phase == GatePhase::after);
  add(gate->declared());
  finalist_gates_.push_back(std::move(gate));
}

const GateInfo* GateTable::find(std::string_view word) const {
  const auto named = [&](const GateInfo& row) {
    return row.name == word ||
           (!row.former.empty() &&
            (row.former == word || row.former.substr(0, row.former.find('_')) == word));
  };
  const auto it = std::ranges::find_if(rows_, named);
  return it == rows_.end() ? nullptr : &*it;
}

const CodeGate* GateTable::code_gate(std::string_view name) const {
  return find_in(code_gates_, name);
}
const DeviceGate* GateTable::device_gate(std::string_view name) const {
  return find_in(device_gates_, name);
}
const FinalistGate* GateTable::finalist_gate(std::string_view name) const {
  return find_in(finalist_gates_, name);
}

}  // namespace warpath::cuda
