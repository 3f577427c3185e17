#pragma once

#include <cstdio>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/spec/spec.h"
#include "experiments/evaluate/evaluation.h"

namespace warpath {

/// The gate that refused: of the first fail in the verdict; empty if none failed.
[[nodiscard]] std::string failed_gate(const Outcome& outcome);

/// One evaluation as a JSON object (docs/evaluate.md); `json_line`: in one line, without line feed.
[[nodiscard]] nlohmann::json evaluation_json(const Evaluated& result,
                                             const TimeSummary& time,
                                             Stage stage);
[[nodiscard]] std::string json_line(const Evaluated& result, const TimeSummary& time, Stage stage);

/// A file that evaluations are appended to, one line each. A line is written by one call, so a
/// reader or a kill never meets half of one.
class LineFile {
 public:
  /// Empties the file, or makes it. Throws Error(environment) naming it.
  explicit LineFile(const std::filesystem::path& path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  void append(std::string line);

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

/// What `--figures` holds.
[[nodiscard]] std::string figures_text(const EvaluationFigures& figures,
                                       const KernelSpec& spec,
                                       const std::string& runner_text,
                                       const DeviceFacts& device,
                                       Stage stage);

/// "[####----] 12/400  9 ok  3 refused  31.2/s  ETA 12 s", at most `width` characters.
[[nodiscard]] std::string evaluation_line(const std::string& name,
                                          const EvaluationFigures& figures,
                                          double seconds,
                                          std::size_t width);

/// A row of the closing table.
struct EvaluationRow {
  std::string name, status, time, speedup, gate;
};
/// `expected` false marks the row with "!".
[[nodiscard]] EvaluationRow evaluation_row(const Evaluated& result,
                                           const TimeSummary& time,
                                           int repeat);
/// Name, status, time ms, speed-up, failing gate: aligned, under a heading that says what kind of
/// timings these are.
[[nodiscard]] std::string evaluation_table(const std::vector<EvaluationRow>& rows,
                                           const std::string& runner_text);

}  // namespace warpath
