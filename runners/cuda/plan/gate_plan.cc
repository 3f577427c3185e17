#include "runners/cuda/plan/gate_plan.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {
namespace {

struct Word {
  std::string text;
  bool leaves_out = false;
};

std::vector<Word> words_of(std::string_view list) {
  std::vector<Word> words;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view text = list.substr(begin, end - begin);
    const bool leaves_out = text.starts_with('-');
    words.push_back({std::string(text.substr(leaves_out ? 1 : 0)), leaves_out});
    begin = end + 1;
  }
  return words;
}

/// True if `word` is the name of a stage or of a phase and stands for `row`, among others.
bool stands_for(std::string_view word, const GateInfo& row) {
  return word == name(row.stage) || word == kGatePhaseNames[static_cast<std::size_t>(row.phase)];
}

bool is_group(std::string_view word) {
  return std::ranges::find(kStageNames, word) != kStageNames.end() ||
         std::ranges::find(kGatePhaseNames, word) != kGatePhaseNames.end();
}

Error unknown(const std::string& place, const std::string& word, const GateTable& table) {
  std::string all;
  for (const GateInfo& row : table.rows()) all += std::string(row.name) + ", ";
  return bad_input(place, word,
                   "a gate, a stage or a phase: one of " + all +
                       "screening, confirmation, final, text, code, device, after");
}

}  // namespace

GatePlan::GatePlan(const GateTable& table) {
  for (const GateInfo& row : table.rows())
    stages_[static_cast<std::size_t>(row.stage)].push_back(row);
}

GatePlan::GatePlan(const CudaOptions& options, const GateTable& table) {
  const std::array<std::vector<Word>, kStageNames.size()> lists{
      words_of(options.screening), words_of(options.confirmation), words_of(options.final)};
  const auto place = [](std::size_t stage) { return "cuda." + std::string(kStageNames[stage]); };
  std::set<std::string_view> named, placed;
  for (std::size_t s = 0; s < lists.size(); ++s) {
    for (const Word& word : lists[s]) {
      if (is_group(word.text)) continue;
      const GateInfo* const row = table.find(word.text);
      if (row == nullptr) throw unknown(place(s), word.text, table);
      if (!word.leaves_out && !named.insert(row->name).second)
        throw bad_input(place(s), word.text, "every gate once, at its first stage");
    }
  }
  for (std::size_t s = 0; s < lists.size(); ++s) {
    const auto left_out = [&](const GateInfo& row) {
      return std::ranges::any_of(lists[s], [&](const Word& word) {
        return word.leaves_out && (is_group(word.text) ? stands_for(word.text, row)
                                                       : table.find(word.text)->name == row.name);
      });
    };
    for (const Word& word : lists[s]) {
      if (word.leaves_out) continue;
      if (const GateInfo* const row = table.find(word.text);
          row != nullptr && !is_group(word.text)) {
        stages_[s].push_back(*row);
        placed.insert(row->name);
        continue;
      }
      for (const GateInfo& row : table.rows()) {
        if (!stands_for(word.text, row) || named.contains(row.name) || left_out(row) ||
            !placed.insert(row.name).second)
          continue;
        stages_[s].push_back(row);
      }
    }
  }
  for (const GateInfo& row : table.rows()) {
    if (!placed.contains(row.name)) left_out_.push_back(row);
  }
}

std::vector<std::string_view> GatePlan::begin_at(Stage stage, GatePhase phase) const {
  std::vector<std::string_view> out;
  for (const GateInfo& row : stages_[static_cast<std::size_t>(stage)]) {
    if (row.phase == phase) out.push_back(row.name);
  }
  return out;
}

std::vector<std::string_view> GatePlan::run_at(Stage stage, GatePhase phase) const {
  std::vector<std::string_view> out;
  for (std::size_t s = 0; s <= static_cast<std::size_t>(stage); ++s) {
    const auto these = begin_at(static_cast<Stage>(s), phase);
    out.insert(out.end(), these.begin(), these.end());
  }
  return out;
}

bool GatePlan::runs(std::string_view gate, Stage stage) const {
  for (std::size_t s = 0; s <= static_cast<std::size_t>(stage); ++s) {
    if (std::ranges::find(stages_[s], gate, &GateInfo::name) != stages_[s].end()) return true;
  }
  return false;
}

void GatePlan::complete(Stage stage, Outcome& outcome) const {
  const bool was_ok = outcome.status == Status::ok;
  const std::string ended =
      outcome.status == Status::not_measured ? "the device was busy" : "an earlier gate failed";
  const auto add_unless_there = [&](const GateInfo& row, const std::string& why) {
    const bool there = std::ranges::find(outcome.verdict.gates, row.name, &GateResult::gate) !=
                       outcome.verdict.gates.end();
    if (!there)
      outcome.verdict.gates.push_back({std::string(row.name), GateResult::Answer::not_run, why});
    return !there;
  };
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const bool due = was_ok && s <= static_cast<std::size_t>(stage);
    for (const GateInfo& row : stages_[s]) {
      const bool added =
          add_unless_there(row, was_ok ? "only at " + std::string(kStageNames[s]) : ended);
      if (!added || !due) continue;
      GateResult& missing = outcome.verdict.gates.back();
      missing.answer = GateResult::Answer::fail;
      missing.detail = "this gate was to run and has no answer: nothing in this build runs it";
      if (outcome.status == Status::ok) outcome.log = missing.gate + ": " + missing.detail;
      outcome.status = Status::rejected;
      outcome.timings.clear();
    }
  }
  for (const GateInfo& row : left_out_)
    add_unless_there(row, "left out by cuda.screening, cuda.confirmation and cuda.final");
}

}  // namespace warpath::cuda
