// WARPATH_FUZZ_SECONDS=600 test_priors --test-suite=llm_fuzz runs each case for so long; inputs
// that crash can be repeated by their seed.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/base/rng.h"
#include "moves/patch/patch.h"
#include "priors/llm/codec.h"
#include "priors/llm/extract.h"
#include "priors/llm/reply_text.h"
#include "priors/llm/sse.h"
#include "tests/support/figure.h"
#include "tests/support/http_server.h"

using namespace warpath;
using namespace warpath::llm;

namespace {

double fuzz_seconds() {
  const char* text = std::getenv("WARPATH_FUZZ_SECONDS");
  return text == nullptr ? 1.0 : std::atof(text);
}

/// Calls `body` with streams of consecutive seeds until the time is over; the number of calls.
template <class Body>
std::uint64_t fuzz(Body body) {
  const char* only = std::getenv("WARPATH_SEED");
  if (only != nullptr) {
    Rng rng(std::strtoull(only, nullptr, 10), "llm fuzz");
    body(rng);
    return 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t seed = 0;
  for (; std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
         fuzz_seconds();
       ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "llm fuzz");
    body(rng);
  }
  return seed;
}

/// `text` with random edits out of `words`, bytes, copies and cuts of itself.
std::string mutated(std::string text, const std::vector<std::string>& words, Rng& rng) {
  const std::uint64_t edits = rng.below(12);
  for (std::uint64_t i = 0; i < edits; ++i) {
    const std::size_t at = rng.below(text.size() + 1);
    const std::size_t size = rng.below(std::min<std::size_t>(text.size() - at, 40) + 1);
    switch (rng.below(5)) {
      case 0:
        text.insert(at, words[rng.below(words.size())]);
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(rng.below(256)));
        break;
      case 2:
        text.erase(at, size);
        break;
      case 3:
        text.insert(at, std::string(text, at, size));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("llm_fuzz");

TEST_CASE("streams of any bytes decode alike however they are cut, by every codec") {
  const std::vector<std::string> words{
      "data: ",   "\n\n",        "\r",          "\r\n", "event: ",
      "[DONE]",   ":",           "{\"error\":", "null", "\"type\":\"response.completed\"",
      "\xF0\x9F", "\xEF\xBB\xBF"};
  const std::uint64_t inputs = fuzz([&](Rng& rng) {
    const std::string codec(codec_names()[rng.below(codec_names().size())]);
    const std::string stream =
        mutated(test::stream_body(codec, {.text = "some text of an answer"}), words, rng);
    SseDecoder whole, parts;
    std::vector<SseEvent> a = whole.feed(stream), b;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t size = 1 + rng.below(30);
      for (SseEvent& e : parts.feed(std::string_view(stream).substr(at, size)))
        b.push_back(std::move(e));
      at += size;
    }
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      REQUIRE((a[i].data == b[i].data && a[i].event == b[i].event && a[i].id == b[i].id));
    static_cast<void>(decode_body(*find_codec(codec), stream));
  });
  CHECK(inputs > 0);
  testing::report_figure("fuzz_inputs_sse", inputs);
}

TEST_CASE("objects are extracted from any text or not at all, and what is extracted is an object") {
  const std::vector<std::string> words{"{",         "}",     "\"",    "\\",      "[",
                                       "]",         ":",     ",",     "<think>", "</think>",
                                       "```json\n", "1e999", "\\u12", "true"};
  const std::string seed_text =
      R"(Here: ```json {"a": [1, {"b": "x}{"}], "c": {"d": null, "e": -1.5e3}} ``` done)";
  const std::uint64_t inputs = fuzz([&](Rng& rng) {
    std::string why;
    const auto out = extract_object(mutated(seed_text, words, rng), why);
    REQUIRE((out ? out->object.is_object() : !why.empty()));
  });
  testing::report_figure("fuzz_inputs_extract", inputs);
}

TEST_CASE("blocks and sentinels of any text give a source or a reason") {
  const std::string source =
      "extern \"C\" __global__ void k(float* x, int n) {\n  int i = blockIdx.x * blockDim.x + "
      "threadIdx.x;\n  if (i < n) x[i] *= 2.0f;\n}\n";
  const std::string blocks =
      "<<<<<<< SEARCH\n  if (i < n) x[i] *= 2.0f;\n=======\n  if (i < n) x[i] += x[i];\n>>>>>>> "
      "REPLACE\n";
  const std::vector<std::string> words{"<<<<<<< SEARCH\n",
                                       "=======\n",
                                       ">>>>>>> REPLACE\n",
                                       "\n",
                                       "```\n",
                                       "  ",
                                       "===KERNEL BEGIN n0===\n",
                                       "===KERNEL END n0===\n",
                                       "PLAN {}\n",
                                       "\t",
                                       "@@ -1 +1 @@\n"};
  const std::uint64_t inputs = fuzz([&](Rng& rng) {
    const std::string reply =
        mutated("===KERNEL BEGIN n0===\n" + (rng.below(2) == 0 ? blocks : source) +
                    "===KERNEL END n0===\nPLAN {\"block\": [128]}\n",
                words, rng);
    std::string why;
    const auto text = written_kernel(reply, "n0", why);
    if (!text) {
      REQUIRE_FALSE(why.empty());
      return;
    }
    std::string no;
    const auto out = apply_patch(source, text->text, no);
    REQUIRE((out ? *out != source : !no.empty()));
  });
  testing::report_figure("fuzz_inputs_blocks", inputs);
}

TEST_SUITE_END();
