#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/run/session.h"

namespace warpath {

/// "3 s", "2 min 5 s", "1 h 4 min"
[[nodiscard]] std::string duration_text(double seconds);

/// Number of evaluations without success: of all statuses but ok.
[[nodiscard]] std::uint64_t rejected_count(const StatusCounts& counts);

/// A piece of a line; if the line is too long, pieces are dropped by decreasing `rank`. Rank 0 is
/// never dropped.
struct LinePart {
  std::string text;
  int rank = 0;
  const char* blank = "  ";  ///< separator from the preceding piece
};
/// The parts that fit into `width` characters. If those of rank 0 alone are longer, the first is
/// truncated.
[[nodiscard]] std::string fitted_line(std::vector<LinePart> parts, std::size_t width);

/// The state of a session in one line of at most `width` characters: bar, builds, best so far,
/// rate, rejected, time left.
[[nodiscard]] std::string progress_line(const std::string& name,
                                        const SessionProgress& progress,
                                        std::size_t width);

/// Shows a session's progress: on a terminal one redrawn line, elsewhere a few plain lines.
class ProgressPrinter final : public SessionObserver {
 public:
  /// `out` must outlive the printer. `terminal`: redraw one line.
  ProgressPrinter(std::FILE* out, bool terminal) : out_(out), terminal_(terminal) {}
  void on_start(const SessionStart& start) override;
  void on_note(std::string_view line) override;
  void on_outcome(const OutcomeReport& report) override;
  void on_final(const FinalReport& report) override;
  void on_heat(const FinalReport& report) override;
  void on_progress(const SessionProgress& progress) override;
  void on_finish(const SessionResult& result) override;
  /// Erases the drawn line; for use after an exception ended a session.
  void clear();

 private:
  void print_line(const std::string& line);
  void print_again(const std::string& what, const FinalReport& report);

  std::FILE* out_;
  bool terminal_;
  bool drawn_ = false;
  std::string name_;
  std::string news_;  // of an outcome, printed with the next progress
  std::chrono::steady_clock::time_point last_;
};

}  // namespace warpath
