#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace warpath {

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

/// How far a piece of work has got.
struct Tally {
  std::string name;
  double done = 0;
  double planned = 0;     ///< 0: unknown, no bar
  double per_second = 0;  ///< 0: unknown, neither rate nor time left
};
/// "NAME [####----] 12/400  NEWS  31.2/s  ETA 12 s", at most `width` characters.
[[nodiscard]] std::string tally_line(const Tally& tally,
                                     std::vector<LinePart> news,
                                     std::size_t width);

/// What a line says of the work: on a terminal good news are green and bad news red.
enum class Tone : std::uint8_t { plain, good, bad };

/// Shows progress: on a terminal one redrawn line, elsewhere a few plain lines. Colours appear only
/// on a terminal, and not where NO_COLOR is set and not empty (no-color.org) or TERM is "dumb". Not
/// thread-safe.
class StatusLine {
 public:
  /// `out` must outlive the object.
  explicit StatusLine(std::FILE* out);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Shows text(width), unless a line was shown less than 0.1 s ago on a terminal; elsewhere less
  /// than 10 s ago, or 1 s if there is `news`, which is appended. Returns whether `news` was shown.
  bool show(const std::function<std::string(std::size_t)>& text, const std::string& news = "");
  /// Lets the next show() show its line at once.
  void hasten() { last_ = {}; }
  /// Prints a line that stays.
  void print(const std::string& line, Tone tone = Tone::plain);
  /// Erases the drawn line.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* out_;
  bool terminal_;
  bool coloured_;
  bool drawn_ = false;
  Clock::time_point last_ = Clock::now();
};

}  // namespace warpath
