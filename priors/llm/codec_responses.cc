// OpenAI's Responses, stateless.
#include <nlohmann/json.hpp>

#include "priors/llm/codec.h"
#include "priors/llm/profile.h"

namespace warpath::llm {
namespace {

using nlohmann::json;

/// The response object: of a whole body, or of a terminal event.
void absorb_response(const json& response, ModelAnswer& answer) {
  using enum ModelAnswer::End;
  answer.model = text_of(response, "model");
  if (const json& usage = member(response, "usage"); usage.is_object()) {
    const json& input = member(usage, "input_tokens_details");
    answer.usage = {
        .input = count_of(usage, "input_tokens"),
        .cached = count_of(input, "cached_tokens"),
        .cache_write = count_of(input, "cache_write_tokens"),
        .output = count_of(usage, "output_tokens"),
        .reasoning = count_of(member(usage, "output_tokens_details"), "reasoning_tokens"),
        .known = true};
  }
  std::string text;
  const json& output = member(response, "output");
  for (std::size_t i = 0; output.is_array() && i < output.size(); ++i) {
    if (text_of(output[i], "type") != "message") continue;  // reasoning and others
    const json& parts = member(output[i], "content");
    for (std::size_t k = 0; parts.is_array() && k < parts.size(); ++k) {
      const std::string type = text_of(parts[k], "type");
      if (type == "output_text") text += text_of(parts[k], "text");
      if (type == "refusal") answer.refusal += text_of(parts[k], "refusal");
    }
  }
  if (!text.empty()) answer.text = std::move(text);
  const std::string status = text_of(response, "status");
  if (status == "failed") return absorb_error(response, answer);
  if (status == "incomplete") {
    answer.end = text_of(member(response, "incomplete_details"), "reason") == "content_filter"
                     ? filtered
                     : length;
  } else if (status == "completed") {
    answer.end = answer.refusal.empty() ? complete : refusal;
  }
}

class Responses final : public Codec {
 public:
  [[nodiscard]] std::string_view name() const override { return "responses"; }
  [[nodiscard]] std::string_view path() const override { return "/responses"; }

  [[nodiscard]] json body(const Profile& profile, const ModelRequest& request) const override {
    json out{{"model", profile.model},
             {"input", json::array()},
             {"max_output_tokens", request.max_output_tokens}};
    for (const Message& m : request.messages) {
      if (m.role == Message::Role::system && out.count("instructions") == 0) {
        out["instructions"] = m.text;
      } else {
        out["input"].push_back({{"role", std::string(llm::name(m.role))}, {"content", m.text}});
      }
    }
    if (profile.can("store")) out["store"] = false;
    if (request.temperature && profile.can("temperature"))
      out["temperature"] = *request.temperature;
    if (!request.effort.empty() && profile.can("reasoning_effort"))
      out["reasoning"] = {{"effort", request.effort}};
    if (profile.can("stream")) out["stream"] = true;
    if (request.schema && profile.can("json_schema")) {
      out["text"] = {{"format",
                      {{"type", "json_schema"},
                       {"name", request.schema_name},
                       {"schema", *request.schema},
                       {"strict", true}}}};
    }
    return out;
  }

  void absorb(const SseEvent& event, ModelAnswer& answer) const override {
    const json data = json::parse(event.data, nullptr, false);
    if (!data.is_object()) return;
    const std::string type = text_of(data, "type");
    if (type == "response.output_text.delta") answer.text += text_of(data, "delta");
    if (type == "error") absorb_error(data, answer);
    if (is_terminal(type)) absorb_response(member(data, "response"), answer);
  }

  void absorb_whole(const json& body, ModelAnswer& answer) const override {
    absorb_response(body, answer);
    if (answer.end == ModelAnswer::End::unfinished)
      answer.error_message = "a response of status '" + text_of(body, "status") + "'";
  }

  [[nodiscard]] bool is_last(const SseEvent& event) const override {
    const json data = json::parse(event.data, nullptr, false);
    const std::string type = text_of(data, "type");
    return type == "error" || is_terminal(type);
  }

 private:
  [[nodiscard]] static bool is_terminal(std::string_view type) {
    return type == "response.completed" || type == "response.incomplete" ||
           type == "response.failed";
  }
};

}  // namespace

std::unique_ptr<Codec> responses_codec() {
  return std::make_unique<Responses>();
}

}  // namespace warpath::llm
