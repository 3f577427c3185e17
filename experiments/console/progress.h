#pragma once

#include <cstdio>
#include <string>

#include "engine/run/session.h"
#include "engine/run/session_result.h"
#include "experiments/console/status_line.h"

namespace warpath {

/// The state of a session in one line of at most `width` characters: bar, builds, best so far,
/// rate, rejected, time left.
[[nodiscard]] std::string progress_line(const std::string& name,
                                        const SessionProgress& progress,
                                        std::size_t width);

/// Shows a session's progress: on a terminal one redrawn line, elsewhere a few plain lines.
class ProgressPrinter final : public SessionObserver {
 public:
  /// `out` must outlive the printer.
  explicit ProgressPrinter(std::FILE* out) : status_(out) {}
  void on_start(const SessionStart& start) override;
  void on_note(std::string_view line) override;
  void on_outcome(const OutcomeReport& report) override;
  void on_final(const FinalReport& report) override;
  void on_heat(const FinalReport& report) override;
  void on_progress(const SessionProgress& progress) override;
  void on_finish(const SessionResult& result) override;
  /// Erases the drawn line; for use after an exception ended a session.
  void clear() { status_.clear(); }

 private:
  void print_again(const std::string& what, const FinalReport& report);

  StatusLine status_;
  std::string name_;
  std::string news_;  // of an outcome, printed with the next progress
};

}  // namespace warpath
