// Chat Completions, as OpenAI, Azure, vLLM, llama.cpp, Ollama, LM Studio and OpenRouter speak it.
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "priors/llm/codec.h"
#include "priors/llm/profile.h"

namespace warpath::llm {
namespace {

using nlohmann::json;

void set_chat_usage(const json& usage, ModelAnswer& answer) {
  if (!usage.is_object()) return;
  const json& input = member(usage, "prompt_tokens_details");
  answer.usage = {
      .input = count_of(usage, "prompt_tokens"),
      .cached = count_of(input, "cached_tokens"),
      .cache_write = count_of(input, "cache_write_tokens"),
      .output = count_of(usage, "completion_tokens"),
      .reasoning = count_of(member(usage, "completion_tokens_details"), "reasoning_tokens"),
      .known = true};
}

void set_chat_end(const std::string& reason, ModelAnswer& answer) {
  if (reason.empty()) return;
  using enum ModelAnswer::End;
  answer.end = reason == "length" ? length : reason == "content_filter" ? filtered : complete;
}

class Chat final : public Codec {
 public:
  [[nodiscard]] std::string_view name() const override { return "chat"; }
  [[nodiscard]] std::string_view path() const override { return "/chat/completions"; }

  [[nodiscard]] json body(const Profile& profile, const ModelRequest& request) const override {
    json messages = json::array();
    for (const Message& m : request.messages) {
      const bool developer = m.role == Message::Role::system && profile.can("developer_role");
      messages.push_back({{"role", developer ? "developer" : std::string(llm::name(m.role))},
                          {"content", m.text}});
    }
    json out{{"model", profile.model}, {"messages", std::move(messages)}};
    out[profile.max_tokens_field] = request.max_output_tokens;
    if (request.temperature && profile.can("temperature"))
      out["temperature"] = *request.temperature;
    if (!request.effort.empty() && profile.can("reasoning_effort"))
      out["reasoning_effort"] = request.effort;
    if (profile.can("stream")) {
      out["stream"] = true;
      if (profile.can("stream_usage")) out["stream_options"] = {{"include_usage", true}};
    }
    if (request.schema && profile.can("json_schema")) {
      out["response_format"] = {
          {"type", "json_schema"},
          {"json_schema",
           {{"name", request.schema_name}, {"strict", true}, {"schema", *request.schema}}}};
    } else if (request.schema && profile.can("json_object")) {
      out["response_format"] = {{"type", "json_object"}};
    }
    return out;
  }

  void absorb(const SseEvent& event, ModelAnswer& answer) const override {
    if (event.data == "[DONE]") return;
    const json chunk = json::parse(event.data, nullptr, false);
    if (chunk.is_discarded()) return;
    if (!member(chunk, "error").is_null()) return absorb_error(chunk, answer);
    if (answer.model.empty()) answer.model = text_of(chunk, "model");
    set_chat_usage(member(chunk, "usage"), answer);
    const json& choices = member(chunk, "choices");
    if (!choices.is_array() || choices.empty()) return;
    const json& delta = member(choices[0], "delta");
    answer.text += text_of(delta, "content");
    answer.refusal += text_of(delta, "refusal");
    set_chat_end(text_of(choices[0], "finish_reason"), answer);
    if (answer.end == ModelAnswer::End::complete && !answer.refusal.empty())
      answer.end = ModelAnswer::End::refusal;
  }

  void absorb_whole(const json& body, ModelAnswer& answer) const override {
    answer.model = text_of(body, "model");
    set_chat_usage(member(body, "usage"), answer);
    const json& choices = member(body, "choices");
    if (!choices.is_array() || choices.empty()) {
      answer.error_message = "a response without choices";
      return;
    }
    const json& message = member(choices[0], "message");
    answer.text = text_of(message, "content");
    answer.refusal = text_of(message, "refusal");
    set_chat_end(text_of(choices[0], "finish_reason"), answer);
    if (!answer.refusal.empty()) answer.end = ModelAnswer::End::refusal;
  }

  [[nodiscard]] bool is_last(const SseEvent& event) const override {
    return event.data == "[DONE]";
  }
};

}  // namespace

std::unique_ptr<Codec> chat_codec() {
  return std::make_unique<Chat>();
}

}  // namespace warpath::llm
