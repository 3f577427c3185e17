#pragma once

#include <cstdio>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/device_facts.h"
#include "engine/spec/spec.h"
#include "experiments/evaluate/evaluation.h"

namespace warpath {

/// The first failed gate of the verdict; empty if none failed.
[[nodiscard]] std::string failed_gate(const Outcome& outcome);

/// One evaluation as a JSON object (docs/evaluate.md); `json_line`: as one line without line feed.
[[nodiscard]] nlohmann::json evaluation_json(const Evaluated& result,
                                             const TimeSummary& time,
                                             Stage stage);
[[nodiscard]] std::string json_line(const Evaluated& result, const TimeSummary& time, Stage stage);

/// A file to which evaluations are appended, one line each. A line is written by one system call,
/// so that neither a reader nor a kill leaves half of one.
class LineFile {
 public:
  /// Truncates or creates the file. Throws Error(environment) naming it.
  explicit LineFile(const std::filesystem::path& path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  void append(std::string line);

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

/// The contents of `--figures`.
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

/// A row of the final table: name, status, time in ms, speed-up, failed gate.
[[nodiscard]] std::vector<std::string> evaluation_row(const Evaluated& result,
                                                      const TimeSummary& time,
                                                      int repeat);
/// The rows aligned, under a heading with the kind of timings.
[[nodiscard]] std::string evaluation_table(std::vector<std::vector<std::string>> rows,
                                           const std::string& runner_text);

}  // namespace warpath
