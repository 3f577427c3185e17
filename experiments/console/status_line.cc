#include "experiments/console/status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/base/format.h"

namespace warpath {
namespace {

std::size_t terminal_width(std::FILE* out) {
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col - 1U;
}

std::string bar(double share) {
  constexpr std::size_t kWidth = 20;
  const auto full =
      static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(kWidth));
  return "[" + std::string(full, '#') + std::string(kWidth - full, '-') + "]";
}

bool colours_are_wanted() {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  return (refused == nullptr || *refused == '\0') &&
         (kind == nullptr || std::string_view(kind) != "dumb");
}

std::string coloured(const std::string& line, Tone tone) {
  if (tone == Tone::plain) return line;
  return (tone == Tone::good ? "\033[32m" : "\033[31m") + line + "\033[0m";
}

}  // namespace

std::string fitted_line(std::vector<LinePart> parts, std::size_t width) {
  const auto joined = [&] {
    std::string line;
    for (const LinePart& part : parts) line += (line.empty() ? "" : part.blank) + part.text;
    return line;
  };
  std::erase_if(parts, [](const LinePart& part) { return part.text.empty(); });
  std::string line = joined();
  while (line.size() > width) {
    const auto least = std::ranges::max_element(parts, {}, &LinePart::rank);
    if (least == parts.end() || least->rank == 0) break;
    parts.erase(least);
    line = joined();
  }
  if (line.size() <= width || parts.empty()) return line;
  std::string& first = parts.front().text;
  first.resize(first.size() - std::min(first.size(), line.size() - width));
  return joined().substr(0, width);
}

std::string tally_line(const Tally& tally, std::vector<LinePart> news, std::size_t width) {
  std::vector<LinePart> parts{{tally.name, 0},
                              {tally.planned > 0 ? bar(tally.done / tally.planned) : "", 4, " "},
                              {format("%.0f/%.0f", tally.done, tally.planned), 0, " "}};
  parts.insert(parts.end(), news.begin(), news.end());
  if (tally.per_second > 0) {
    parts.push_back({number_text(tally.per_second, 3) + "/s", 1});
    parts.push_back({"ETA " + duration_text((tally.planned - tally.done) / tally.per_second), 0});
  }
  return fitted_line(std::move(parts), width);
}

StatusLine::StatusLine(std::FILE* out)
    : out_(out),
      terminal_(isatty(fileno(out)) == 1),
      coloured_(terminal_ && colours_are_wanted()) {}

bool StatusLine::show(const std::function<std::string(std::size_t)>& text,
                      const std::string& news) {
  using std::chrono::milliseconds;
  const auto now = Clock::now();
  const auto least = milliseconds(terminal_ ? 100 : news.empty() ? 10'000 : 1000);
  if (now - last_ < least) return false;
  last_ = now;
  if (!terminal_) {
    print(text(SIZE_MAX) + (news.empty() ? "" : "  (" + news + ")"));
    return true;
  }
  std::fprintf(out_, "\r\033[K%s", text(terminal_width(out_)).c_str());
  std::fflush(out_);
  drawn_ = true;
  return false;
}

void StatusLine::print(const std::string& line, Tone tone) {
  clear();
  std::fprintf(out_, "%s\n", (coloured_ ? coloured(line, tone) : line).c_str());
  std::fflush(out_);
}

void StatusLine::clear() {
  if (drawn_) std::fputs("\r\033[K", out_);
  drawn_ = false;
}

}  // namespace warpath
