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

/// Decoder of server-sent events (WHATWG HTML, "Parsing an event stream"), fed in pieces of any
/// size, which may split a line end or a UTF-8 sequence. Lines end in LF, CR or CRLF; a line that
/// begins with a colon is a comment; one blank after a field's colon is dropped; an empty line
/// dispatches; an incomplete event at the end of the stream is discarded. Skips a byte-order mark
/// at the start. Not thread-safe.
class SseDecoder {
 public:
  /// The events completed by `bytes`, in order. Events without data are not dispatched.
  [[nodiscard]] std::vector<SseEvent> feed(std::string_view bytes);
  [[nodiscard]] std::size_t comments() const { return comments_; }  ///< keep-alive lines so far

 private:
  void end_line(std::vector<SseEvent>& out);

  std::string line_;
  SseEvent event_;
  std::string last_id_;
  bool has_data_ = false;
  bool after_cr_ = false;  // a LF now belongs to the preceding CR
  bool at_start_ = true;
  std::size_t comments_ = 0;
};

}  // namespace warpath::llm
