#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "priors/llm/model_call.h"
#include "priors/llm/sse.h"
#include "priors/llm/transport.h"

namespace warpath::llm {

struct Profile;  // priors/llm/profile.h

/// One wire format. Stateless; any thread.
class Codec {
 public:
  virtual ~Codec() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// below the base URL: "/chat/completions"
  [[nodiscard]] virtual std::string_view path() const = 0;
  /// The body of a request, without what the profile's flags rule out.
  [[nodiscard]] virtual nlohmann::json body(const Profile& profile,
                                            const ModelRequest& request) const = 0;
  /// Adds one event of a stream to `answer`; its end is set by the terminal one. Unknown events and
  /// events that are no JSON change nothing.
  virtual void absorb(const SseEvent& event, ModelAnswer& answer) const = 0;
  /// The same for the body of a whole response.
  virtual void absorb_whole(const nlohmann::json& body, ModelAnswer& answer) const = 0;
  /// True if nothing that counts can follow: `answer` is complete with its usage.
  [[nodiscard]] virtual bool is_last(const SseEvent& event) const = 0;
};

/// "chat", "responses" or "anthropic"; null if there is none of this name.
[[nodiscard]] const Codec* find_codec(std::string_view name);
[[nodiscard]] const std::vector<std::string_view>& codec_names();

/// A body as the server sent it: a stream of events, or a JSON document (also where a stream was
/// asked for). What cannot be read leaves the answer unfinished, with the reason in error_message.
[[nodiscard]] ModelAnswer decode_body(const Codec& codec, std::string_view body);

/// The POST that asks a profile's server, with its credentials; an empty key is not sent. The id is
/// the caller's.
[[nodiscard]] HttpRequest http_request(const Profile& profile,
                                       const std::string& key,
                                       const ModelRequest& request);

/// True once an event that ends the stream has been fed. One a response.
class EndDetector {
 public:
  explicit EndDetector(const Codec& codec) : codec_(codec) {}
  [[nodiscard]] bool feed(std::string_view piece);

 private:
  const Codec& codec_;
  SseDecoder sse_;
};

// For codecs: members of foreign JSON, whatever their types are.
/// null if absent
[[nodiscard]] const nlohmann::json& member(const nlohmann::json& object, std::string_view key);
/// empty unless a text
[[nodiscard]] std::string text_of(const nlohmann::json& object, std::string_view key);
/// 0 unless an integer >= 0
[[nodiscard]] std::int64_t count_of(const nlohmann::json& object, std::string_view key);
/// Fills the error fields from {"error": {"message", "type", "code", "param"}} or the object
/// itself, and ends the answer.
void absorb_error(const nlohmann::json& object, ModelAnswer& answer);

// One file each: priors/llm/codec_<name>.cc.
[[nodiscard]] std::unique_ptr<Codec> chat_codec();
[[nodiscard]] std::unique_ptr<Codec> responses_codec();
[[nodiscard]] std::unique_ptr<Codec> anthropic_codec();

}  // namespace warpath::llm
