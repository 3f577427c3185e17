// Anthropic's Messages. The prompt's stable prefix is marked for its cache.
#include <nlohmann/json.hpp>

#include "priors/llm/codec.h"
#include "priors/llm/profile.h"

namespace warpath::llm {
namespace {

using nlohmann::json;

void set_anthropic_usage(const json& usage, ModelAnswer& answer) {
  if (!usage.is_object()) return;
  Usage& u = answer.usage;
  if (usage.count("input_tokens") != 0) {
    u.cached = count_of(usage, "cache_read_input_tokens");
    u.cache_write = count_of(usage, "cache_creation_input_tokens");
    u.input = count_of(usage, "input_tokens") + u.cached + u.cache_write;
  }
  if (usage.count("output_tokens") != 0) u.output = count_of(usage, "output_tokens");
  u.known = true;
}

void set_anthropic_end(const std::string& reason, ModelAnswer& answer) {
  if (reason.empty()) return;
  using enum ModelAnswer::End;
  answer.end = reason == "max_tokens" || reason == "model_context_window_exceeded" ? length
               : reason == "refusal"                                               ? refusal
                                                                                   : complete;
}

class Anthropic final : public Codec {
 public:
  [[nodiscard]] std::string_view name() const override { return "anthropic"; }
  [[nodiscard]] std::string_view path() const override { return "/messages"; }

  [[nodiscard]] json body(const Profile& profile, const ModelRequest& request) const override {
    json out{{"model", profile.model},
             {"max_tokens", request.max_output_tokens},
             {"messages", json::array()}};
    for (const Message& m : request.messages) {
      if (m.role == Message::Role::system && out.count("system") == 0) {
        json part{{"type", "text"}, {"text", m.text}};
        if (profile.can("cache_control")) part["cache_control"] = {{"type", "ephemeral"}};
        out["system"] = json::array({std::move(part)});
      } else {
        out["messages"].push_back(
            {{"role", m.role == Message::Role::assistant ? "assistant" : "user"},
             {"content", m.text}});
      }
    }
    if (request.temperature && profile.can("temperature"))
      out["temperature"] = *request.temperature;
    if (profile.can("stream")) out["stream"] = true;
    if (request.schema && profile.can("json_schema"))
      out["output_config"] = {{"format", {{"type", "json_schema"}, {"schema", *request.schema}}}};
    return out;
  }

  void absorb(const SseEvent& event, ModelAnswer& answer) const override {
    const json data = json::parse(event.data, nullptr, false);
    if (!data.is_object()) return;
    const std::string type = text_of(data, "type");
    if (type == "message_start") {
      const json& message = member(data, "message");
      answer.model = text_of(message, "model");
      set_anthropic_usage(member(message, "usage"), answer);
    } else if (type == "content_block_delta") {
      const json& delta = member(data, "delta");
      if (text_of(delta, "type") == "text_delta") answer.text += text_of(delta, "text");
    } else if (type == "message_delta") {
      set_anthropic_usage(member(data, "usage"), answer);
      reason(member(data, "delta"), answer);
    } else if (type == "error") {
      absorb_error(data, answer);
    }
    if (type == "message_stop" && answer.end == ModelAnswer::End::unfinished)
      answer.end = ModelAnswer::End::complete;
  }

  void absorb_whole(const json& body, ModelAnswer& answer) const override {
    answer.model = text_of(body, "model");
    set_anthropic_usage(member(body, "usage"), answer);
    const json& parts = member(body, "content");
    for (std::size_t i = 0; parts.is_array() && i < parts.size(); ++i) {
      if (text_of(parts[i], "type") == "text") answer.text += text_of(parts[i], "text");
    }
    reason(body, answer);
    if (answer.end == ModelAnswer::End::unfinished)
      answer.error_message = "a message without a stop_reason";
  }

  [[nodiscard]] bool is_last(const SseEvent& event) const override {
    const json data = json::parse(event.data, nullptr, false);
    const std::string type = text_of(data, "type");
    return type == "message_stop" || type == "error";
  }

 private:
  static void reason(const json& object, ModelAnswer& answer) {
    set_anthropic_end(text_of(object, "stop_reason"), answer);
    if (answer.end == ModelAnswer::End::refusal && answer.refusal.empty())
      answer.refusal = "refused";
  }
};

}  // namespace

std::unique_ptr<Codec> anthropic_codec() {
  return std::make_unique<Anthropic>();
}

}  // namespace warpath::llm
