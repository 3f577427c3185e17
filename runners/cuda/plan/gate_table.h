#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "runners/cuda/plan/gate.h"

namespace warpath::cuda {

/// All gates of this build, in running order.
class GateTable {
 public:
  /// The gates of runners/cuda/gates: all if built with the CUDA headers, otherwise those on text
  /// and code.
  GateTable();
  /// Constructs an empty table, for tests.
  struct Empty {};
  explicit GateTable(Empty) {}

  /// Two gates of one name, or one whose phase does not match its kind, are a bug.
  void add(std::unique_ptr<CodeGate> gate);
  void add(std::unique_ptr<DeviceGate> gate);
  void add(std::unique_ptr<FinalistGate> gate);
  /// Adds a gate that the builder decides.
  void add(const GateInfo& info);

  [[nodiscard]] const std::vector<GateInfo>& rows() const { return rows_; }
  /// The gate named `word`: by its name, by its former name, or by the former name's part before
  /// the first "_". Null if there is none.
  [[nodiscard]] const GateInfo* find(std::string_view word) const;
  /// Null if the gate is of another kind or unknown.
  [[nodiscard]] const CodeGate* code_gate(std::string_view name) const;
  [[nodiscard]] const DeviceGate* device_gate(std::string_view name) const;
  [[nodiscard]] const FinalistGate* finalist_gate(std::string_view name) const;

 private:
  std::vector<GateInfo> rows_;
  std::vector<std::unique_ptr<CodeGate>> code_gates_;
  std::vector<std::unique_ptr<DeviceGate>> device_gates_;
  std::vector<std::unique_ptr<FinalistGate>> finalist_gates_;
};

}  // namespace warpath::cuda
