#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::llm {

/// One event of a stream: `data` lines joined by line feeds.
struct SseEvent {
  std::string event;  ///< empty: "message"
  std::string data;
  std::string id;
};

/// Server-sent events (WHATWG HTML, "Parsing an event stream"), fed in pieces that may end
/// anywhere: inside a line end, inside a UTF-8 sequence. Lines end in LF, CR or CRLF; a line that
/// begins with a colon is a comment; one blank after the field's colon is dropped; an empty line
/// dispatches; an event that the end of the stream cuts short is discarded. A byte-order mark at
/// the start is skipped. One thread only.
class SseDecoder {
 public:
  /// The events that `bytes` completed, in order. Events without data are not dispatched.
  [[nodiscard]] std::vector<SseEvent> feed(std::string_view bytes);
  /// True while an event has begun that no empty line has ended.
  [[nodiscard]] bool within_event() const {
    return has_data_ || !event_.event.empty() || !line_.empty();
  }
  [[nodiscard]] std::size_t comments() const { return comments_; }  ///< keep-alive lines so far

 private:
  void end_line(std::vector<SseEvent>& out);

  std::string line_;
  SseEvent event_;
  std::string last_id_;
  bool has_data_ = false;
  bool after_cr_ = false;  // a LF now belongs to the CR before it
  bool at_start_ = true;
  std::size_t comments_ = 0;
};

}  // namespace warpath::llm
