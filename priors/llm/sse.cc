#include "priors/llm/sse.h"

#include <utility>

namespace warpath::llm {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

std::vector<SseEvent> SseDecoder::feed(std::string_view bytes) {
  std::vector<SseEvent> out;
  for (const char c : bytes) {
    if (std::exchange(after_cr_, c == '\r') && c == '\n') continue;
    if (c == '\r' || c == '\n') {
      end_line(out);
    } else {
      line_ += c;
    }
  }
  return out;
}

void SseDecoder::end_line(std::vector<SseEvent>& out) {
  const std::string line = std::exchange(line_, {});
  std::string_view rest = line;
  if (std::exchange(at_start_, false) && rest.starts_with(kByteOrderMark))
    rest.remove_prefix(kByteOrderMark.size());
  if (rest.empty()) {
    SseEvent event = std::exchange(event_, {});
    event.id = last_id_;
    if (std::exchange(has_data_, false)) out.push_back(std::move(event));
    return;
  }
  if (rest.front() == ':') {
    ++comments_;
    return;
  }
  const std::size_t colon = rest.find(':');
  const std::string_view field = rest.substr(0, colon);
  std::string_view value =
      colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  } else if (field == "event") {
    event_.event = value;
  } else if (field == "id" && value.find('\0') == std::string_view::npos) {
    last_id_ = value;
  }  // "retry" asks for a reconnection, which no caller makes; others are ignored
}

}  // namespace warpath::llm
