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

/// One wire format. Stateless; thread-safe.
class Codec {
 public:
  virtual ~Codec() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// below the base URL: "/chat/completions"
  [[nodiscard]] virtual std::string_view path() const = 0;
  /// The body of a request, without options excluded by the profile's capabilities.
  [[nodiscard]] virtual nlohmann::json body(const Profile& profile,
                                            const ModelRequest& request) const = 0;
  /// Adds one event of a stream to `answer`; the terminal event sets its end. Unknown and non-JSON
  /// events are ignored.
  virtual void absorb(const SseEvent& event, ModelAnswer& answer) const = 0;
  /// The same for a complete response body.
  virtual void absorb_whole(const nlohmann::json& body, ModelAnswer& answer) const = 0;
  /// True if `answer` is complete with its usage, so that later events do not matter.
  [[nodiscard]] virtual bool is_last(const SseEvent& event) const = 0;
};

/// "chat", "responses" or "anthropic"; null if there is none of this name.
[[nodiscard]] const Codec* find_codec(std::string_view name);
[[nodiscard]] const std::vector<std::string_view>& codec_names();

/// Decodes a body: a stream of events, or a JSON document (even if a stream was requested). On
/// malformed input the answer stays unfinished, with the reason in error_message.
[[nodiscard]] ModelAnswer decode_body(const Codec& codec, std::string_view body);

/// The POST request to a profile's server, with credentials unless the key is empty. The caller
/// sets the id.
[[nodiscard]] HttpRequest http_request(const Profile& profile,
                                       const std::string& key,
                                       const ModelRequest& request);

/// Detects the event that ends a stream. Use one per response.
class EndDetector {
 public:
  explicit EndDetector(const Codec& codec) : codec_(codec) {}
  [[nodiscard]] bool feed(std::string_view piece);

 private:
  const Codec& codec_;
  SseDecoder sse_;
};

// For codecs: access to members of foreign JSON of any type.
/// null if absent
[[nodiscard]] const nlohmann::json& member(const nlohmann::json& object, std::string_view key);
/// empty unless a text
[[nodiscard]] std::string text_of(const nlohmann::json& object, std::string_view key);
/// 0 unless an integer >= 0
[[nodiscard]] std::int64_t count_of(const nlohmann::json& object, std::string_view key);
/// Sets the error fields from {"error": {"message", "type", "code", "param"}} or the object itself,
/// and ends the answer.
void absorb_error(const nlohmann::json& object, ModelAnswer& answer);

// One file each: priors/llm/codec_<name>.cc.
[[nodiscard]] std::unique_ptr<Codec> chat_codec();
[[nodiscard]] std::unique_ptr<Codec> responses_codec();
[[nodiscard]] std::unique_ptr<Codec> anthropic_codec();

}  // namespace warpath::llm
