#include "engine/run/session.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/base/block.h"
#include "engine/base/error.h"
#include "engine/json/json_record.h"
#include "engine/log/event_log.h"
#include "engine/log/run_folder.h"
#include "engine/plugin/outcome_io.h"
#include "engine/run/campaign.h"
#include "engine/run/drafts.h"
#include "engine/run/driver.h"
#include "engine/run/evaluation_loop.h"
#include "engine/run/kernel_space.h"
#include "engine/run/record.h"
#include "engine/run/replay.h"
#include "engine/run/run_identity.h"
#include "engine/run/saved_session.h"
#include "engine/run/session_exchange.h"
#include "engine/run/session_result.h"

namespace warpath {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

class Session final : private CampaignHost {
 public:
  Session(const SessionSetup& setup, std::stop_token stop, std::stop_token abandon)
      : setup_(setup),
        options_(setup.options),
        observer_(setup.observer != nullptr ? *setup.observer : silent_),
        stop_(std::move(stop)),
        abandon_(std::move(abandon)),
        substitute_(setup.runner.substitute(setup.spec)),
        spec_(substitute_ ? *substitute_ : setup.spec),
        device_(setup.runner.device()),
        sync_(parse_sync_rule(options_.record.sync, "record.sync")),
        policy_(make_stop(options_)) {
    refuse_existing_run();
    setup_.runner.prepare(spec_);
    folder_.emplace(setup_.folder);
    refuse_existing_run();  // another process may have come between
    put_blocks_in(folder_->path());
    identity_.emplace(RunIdentity::Parts{.spec = spec_,
                                         .options = options_,
                                         .device = device_,
                                         .runner_text = setup_.runner_text,
                                         .folder = *folder_,
                                         .sync = sync_ != SyncRule::never});
    space_.emplace(
        KernelSpace::Parts{
            .spec = spec_,
            .device = device_,
            .moves = setup_.moves,
            .proposers = setup_.proposers,
            .prior = setup_.prior,
            .max_actions = options_.search.max_actions,
            .seed = options_.run.seed,
            .refuses = [this](const Variant& v) { return setup_.runner.refuses(v); },
            .only_tunables = setup_.runner.only_tunables(),
            .without = move_names(options_.run.without_moves),
            .notes_opened = !setup_.late.empty(),
            .draft = drafter_of(setup_.runner, spec_, abandon_),
            .record_priors = [this](const PriorsEvent& e) { record_said(e, e.key, "the prior"); }},
        [this](const ProposalsEvent& e) { record_said(e, e.key, e.proposer); });
    campaign_.emplace(*space_, spec_, device_, options_);
    if (setup_.only_late) campaign_->keep_finals();
    record_.emplace(*folder_, *campaign_, record_names(), options_);
    saved_.emplace(
        SavedParts{
            .space = *space_, .campaign = *campaign_, .record = *record_, .prior = setup_.prior},
        *folder_, sync_ != SyncRule::never);
  }

  SessionResult run() {
    const bool resumed = RunFolder::has_run(setup_.folder);
    resumed ? continue_run() : start_run();
    earlier_builds_ = campaign_->progress(0).evaluations;
    earlier_seconds_ = campaign_->seconds();
    const SessionEvent session{.at = unix_now()};
    campaign_->begin_session();
    log_->append(encode(session), false);
    record_->add(session);
    record_->publish();
    observer_.on_start({.spec = spec_,
                        .device = device_,
                        .runner = setup_.runner_text,
                        .folder = setup_.folder,
                        .resumed = resumed,
                        .builds = earlier_builds_,
                        .budget_builds = static_cast<std::uint64_t>(options_.run.budget_builds)});
    evaluator_ = setup_.make_evaluator(setup_.runner, spec_);
    if (!campaign_->begun()) measure_baseline();
    if (campaign_->begun()) {
      search();
      for (LateProposer* late : setup_.late) late->close();
      save_snapshot();
      if (!interrupted_ && !setup_.only_late && !drive_finals(driver())) {
        interrupted_ = true;
        stop_reason_ = "interrupted";
      }
    }
    evaluator_->cancel();
    log_->sync();
    record_->finish();
    const SessionResult result = this->result();
    write_summary(result);
    observer_.on_finish(result);
    return result;
  }

 private:
  // Starting and continuing.

  void refuse_existing_run() const {
    if (setup_.resume || !RunFolder::has_run(setup_.folder)) return;
    throw bad_input(setup_.folder.string(), "a folder that holds a run",
                    "--resume to continue it, or another --outdir");
  }

  [[nodiscard]] RecordNames record_names() const {
    const json environment = json::parse(setup_.environment_json, nullptr, false);
    std::string revision;
    if (environment.is_object() && environment.contains("revision") &&
        environment["revision"].is_string()) {
      revision = environment["revision"].get<std::string>();
    }
    return {.name = spec_.name,
            .runner = setup_.runner_text,
            .device = device_.name,
            .revision = revision,
            .findings = setup_.findings};
  }

  /// environment.json: what the program says, and what times depend on.
  [[nodiscard]] std::string environment() const {
    const std::string platform = setup_.runner.platform();
    json out = json::parse(setup_.environment_json, nullptr, false);
    if (platform.empty() || !out.is_object()) return setup_.environment_json;
    out["platform"] = platform;
    return json_text(out, 2);
  }

  void start_run() {
    const RunEvent run = identity_->event();
    identity_->write(run, environment(), setup_.prior.files());
    saved_->begin();
    log_.emplace(
        EventWriter::create(folder_->file("events.jsonl"), encode(run), sync_, segment_bytes()));
  }

  void continue_run() {
    const std::filesystem::path path = folder_->file("events.jsonl");
    std::string note;
    const auto unless_bad = [&](auto&& work) {
      try {
        work();
      } catch (const Error& e) {
        saved_->forget();
        note = std::string(e.what()) + "; the whole log is replayed instead";
      }
    };
    unless_bad([&] { saved_->load(); });
    const LogSummary log = scan_log(path, saved_->position());
    identity_->refuse_other(log.run, path);
    identity_->mend([this](std::string_view text) { observer_.on_note(text); });
    if (saved_->position() != nullptr) {
      unless_bad([&] {
        if (!log.snapshot_fits)
          throw Error(ErrorCode::bad_input,
                      folder_->file("search_state.json").string() + ": not a state of this log");
        saved_->open_files();
      });
    }
    if (!note.empty()) observer_.on_note(note);
    if (log.torn) observer_.on_note(log.end_place + ": the last line was cut short and is dropped");
    std::optional<LogPosition> from;
    if (saved_->position() != nullptr) {
      from = *saved_->position();
      saved_->adopt();
    } else {
      saved_->begin();
    }
    replay(path, from ? &*from : nullptr, *space_, *campaign_, *record_);
    log_.emplace(path, log.end, sync_, segment_bytes());
    identity_->write_config(log.run.config);  // budgets may have changed
    saved_lines_ = from ? from->lines : 0;
  }

  [[nodiscard]] std::uint64_t segment_bytes() const {
    return static_cast<std::uint64_t>(options_.record.segment_kib) << 10U;
  }

  void record_said(const Event& event, const Hash128& key, const std::string& who) {
    if (!log_)
      throw bad_input(setup_.folder.string() + "/events.jsonl", who + " at " + key.hex(),
                      "what it said there");
    log_->append(encode(event), false);
  }

  // Evaluating.

  [[nodiscard]] double seconds() const override {
    return earlier_seconds_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  [[nodiscard]] Submission submission(NodeId node) override {
    ++in_flight_;
    return {.node = node, .variant = space_->variant(node), .key = space_->key(node)};
  }

  void measure_baseline() {
    Submission baseline = submission(NodeId{0});
    baseline.sequence = kBaselineSequence;
    baseline.seed = campaign_->input_seed(kBaselineSequence);
    std::optional<Outcome> outcome =
        evaluate_alone(*evaluator_, std::move(baseline), [this] { tick(); }, abandon_);
    --in_flight_;
    if (!outcome) return;
    const BaselineEvent event{.key = space_->key(NodeId{0}),
                              .outcome = recordable(std::move(*outcome)),
                              .at = unix_now(),
                              .seconds = seconds()};
    log_->append(encode(event), true);
    campaign_->apply(event);
    record_->add(event);
    observer_.on_outcome({.sequence = kBaselineSequence,
                          .node = NodeId{0},
                          .key = event.key,
                          .move = "baseline",
                          .outcome = event.outcome,
                          .speedup = campaign_->begun() ? 1.0 : 0.0,
                          .improved = false});
  }

  [[nodiscard]] Driver driver() {
    return {.campaign = *campaign_,
            .evaluator = *evaluator_,
            .host = *this,
            .options = options_.search,
            .policy = setup_.only_late ? nullptr : policy_.get(),
            .late = late_ ? &*late_ : nullptr,
            .stop = stop_,
            .abandon = abandon_};
  }

  /// A search that is to end near a bound needs one.
  void require_bound() const {
    if (setup_.only_late || !policy_->needs_bound() || campaign_->progress(0).bound_share > 0)
      return;
    throw bad_input("run.until", "a baseline without a lower time bound",
                    "a GPU whose peaks can be measured, and a spec that declares its work (bound); "
                    "0: no such stop");
  }

  void search() {
    require_bound();
    if (!setup_.late.empty()) {
      late_.emplace(setup_.late, *space_, *campaign_, *log_, options_.search.deterministic);
      late_->tell_past();
    }
    const SearchEnd end = drive_search(driver());
    in_flight_ = 0;
    interrupted_ = end.interrupted;
    stop_reason_ = end.reason;
  }

  void on_dispatch(const Campaign::Pending& chosen) override {
    const DispatchEvent event = campaign_->event_of(chosen);
    log_->append(encode(event), false);
    record_->add(event);
  }
  void on_idle(std::uint64_t sequence) override {
    log_->append(encode(IdleEvent{.sequence = sequence}), false);
  }
  void before_wait() override { log_->settle(); }
  void tick() override { observer_.on_progress(progress()); }

  void apply(std::uint64_t sequence, Outcome outcome) override {
    --in_flight_;
    OutcomeEvent event{.sequence = sequence,
                       .outcome = recordable(std::move(outcome)),
                       .at = unix_now(),
                       .seconds = seconds()};
    campaign_->judge(event.outcome);
    log_->append(encode(event), true);
    const Campaign::Applied applied = campaign_->apply(event, "events.jsonl");
    record_->add(event, applied);
    if (late_) late_->tell(applied.node);
    observer_.on_outcome({.sequence = sequence,
                          .node = applied.node,
                          .key = space_->key(applied.node),
                          .move = space_->instance(applied.node).text(),
                          .outcome = event.outcome,
                          .speedup = applied.speedup,
                          .improved = applied.improved});
    observer_.on_progress(progress());
    if (applied.improved) {
      log_->settle();  // a summary is not ahead of it either
      write_summary(result());
    }
    ++since_snapshot_;
    if (snapshot_due()) save_snapshot();
  }

  void apply(const Finals::Due& due, Outcome outcome) override {
    --in_flight_;
    outcome = recordable(std::move(outcome));
    if (due.stage == Stage::final) {
      FinalEvent event{.key = {}, .node = due.node, .outcome = std::move(outcome)};
      observer_.on_final(apply_final(event));
    } else {
      HeatEvent event{
          .key = {}, .node = due.node, .reading = due.reading, .outcome = std::move(outcome)};
      observer_.on_heat(apply_final(event));
    }
  }

  /// Judges, logs, applies, records.
  template <class E>
  FinalReport apply_final(E& event) {
    event.key = space_->key(event.node);
    event.at = unix_now();
    event.seconds = seconds();
    campaign_->finals().judge(event.node, event.outcome);
    log_->append(encode(event), true);
    const Finals::Applied applied = campaign_->apply(event, "events.jsonl");
    record_->add(event, applied);
    return {.node = event.node,
            .key = event.key,
            .move = event.node == NodeId{0} ? "baseline" : space_->instance(event.node).text(),
            .outcome = event.outcome,
            .speedup = applied.speedup,
            .searched_speedup = campaign_->speedup(event.node)};
  }

  // Saving and telling.

  void save_snapshot() {
    since_snapshot_ = 0;
    if (log_->position().lines == saved_lines_) return;
    const auto start = Clock::now();
    log_->sync();  // a snapshot is never ahead of the log
    saved_->save(log_->position());
    saved_lines_ = log_->position().lines;
    saved_at_ = Clock::now();
    saving_ = saved_at_ - start;
  }

  /// Snapshots of a large graph take long: they are to take one twentieth of the time.
  [[nodiscard]] bool snapshot_due() const {
    return since_snapshot_ >= static_cast<std::uint64_t>(options_.record.snapshot_every) &&
           Clock::now() - saved_at_ >= 20 * saving_;
  }

  void write_summary(const SessionResult& result) const {
    write_file_atomically(folder_->file("best_summary.json"), to_json(result).dump(2) + "\n",
                          sync_ != SyncRule::never);
  }

  [[nodiscard]] SessionProgress progress() const {
    const double now = seconds();
    const std::uint64_t builds = campaign_->progress(now).evaluations;
    const double here = now - earlier_seconds_;
    return {
        .builds = builds,
        .budget_builds = static_cast<std::uint64_t>(options_.run.budget_builds),
        .by_status = campaign_->by_status(),
        .in_flight = in_flight_,
        .baseline_ms = campaign_->baseline_ms(),
        .best_ms = campaign_->baseline_ms() / campaign_->best_speedup(),
        .best_speedup = campaign_->best_speedup(),
        .seconds = now,
        .builds_per_second = here > 0 ? static_cast<double>(builds - earlier_builds_) / here : 0};
  }

  [[nodiscard]] SessionResult result() const {
    SessionResult r;
    r.name = spec_.name;
    r.runner = setup_.runner_text;
    r.device = device_.name;
    r.seed = options_.run.seed;
    r.seconds = seconds();
    r.best_key = space_->key(NodeId{0});
    r.stop_reason = stop_reason_;
    r.interrupted = interrupted_;
    if (!campaign_->begun()) {
      r.interrupted = campaign_->baseline_problem().empty();
      r.stop_reason = r.interrupted ? "interrupted" : "baseline " + campaign_->baseline_problem();
      return r;
    }
    r.baseline_ok = true;
    const Campaign::Standing standing = campaign_->standing();
    r.best_key = space_->key(standing.node);
    r.baseline_ms = standing.baseline_ms;
    r.speedup = standing.speedup;
    r.speedup_interval = campaign_->interval_of(standing);
    r.best_ms = r.baseline_ms / r.speedup;
    r.searched_speedup = campaign_->best_speedup();
    r.finalists = standing.finalists;
    r.measured = standing.measured;
    r.left_out = campaign_->finals().left_out();
    for (const Finals::Dismissed& one : campaign_->finals().dismissed())
      r.dismissed.push_back(dismissal(one));
    r.improved = r.measured && r.speedup >= 1 + options_.run.min_gain &&
                 (!r.speedup_interval || r.speedup_interval->low > 1);
    r.builds = campaign_->progress(0).evaluations;
    r.by_status = campaign_->by_status();
    r.verdict = *standing.verdict;
    r.best = std::make_shared<const Variant>(space_->variant(standing.node));
    r.best_outcome = counted(standing.node);
    r.baseline_outcome = counted(NodeId{0});
    r.fingerprint = campaign_->search().fingerprint();
    return r;
  }

  /// The outcome of the finals, else of the search.
  [[nodiscard]] std::shared_ptr<const Outcome> counted(NodeId node) const {
    const Finals& finals = campaign_->finals();
    const Finals::Final* const final = finals.find(node);
    const Outcome* const again = node == NodeId{0}  ? finals.baseline()
                                 : final != nullptr ? &final->outcome
                                                    : nullptr;
    return again != nullptr ? std::make_shared<const Outcome>(*again) : space_->outcome(node);
  }

  [[nodiscard]] Dismissal dismissal(const Finals::Dismissed& one) const {
    Dismissal out{.key = space_->key(one.node),
                  .move = space_->instance(one.node).text(),
                  .status = one.outcome->status,
                  .gate = "",
                  .detail = one.outcome->log,
                  .searched_speedup = campaign_->speedup(one.node)};
    for (const GateResult& gate : one.outcome->verdict.gates) {
      if (gate.answer != GateResult::Answer::fail) continue;
      out.gate = gate.gate;
      if (!gate.detail.empty()) out.detail = gate.detail;
      break;
    }
    out.detail = out.detail.substr(0, out.detail.find('\n'));
    return out;
  }

  const SessionSetup& setup_;
  const Options& options_;
  SessionObserver silent_;
  SessionObserver& observer_;
  std::stop_token stop_;
  std::stop_token abandon_;
  std::optional<KernelSpec> substitute_;
  const KernelSpec& spec_;
  DeviceFacts device_;
  SyncRule sync_;
  std::unique_ptr<StopPolicy> policy_;
  std::optional<RunFolder> folder_;
  std::optional<RunIdentity> identity_;
  std::optional<KernelSpace> space_;
  std::optional<Campaign> campaign_;
  std::optional<RunRecord> record_;
  std::optional<SavedSession> saved_;
  std::optional<EventWriter> log_;       // unset while the log is replayed
  std::optional<SessionExchange> late_;  // where there are late proposers
  std::unique_ptr<Evaluator> evaluator_;
  std::size_t in_flight_ = 0;  // submitted and not applied
  Clock::time_point start_ = Clock::now();
  double earlier_seconds_ = 0;
  std::uint64_t earlier_builds_ = 0;
  std::uint64_t since_snapshot_ = 0;
  std::uint64_t saved_lines_ = 0;
  Clock::time_point saved_at_ = start_;
  Clock::duration saving_{};  // what the last snapshot took
  std::string stop_reason_;
  bool interrupted_ = false;
};

}  // namespace

SessionResult run_session(const SessionSetup& setup,
                          std::stop_token stop,
                          std::stop_token abandon) {
  return Session(setup, std::move(stop), std::move(abandon)).run();
}

}  // namespace warpath
