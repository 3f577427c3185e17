#include "engine/run/session.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/plugin/outcome_io.h"
#include "engine/run/campaign.h"
#include "engine/run/event_log.h"
#include "engine/run/final_stage.h"
#include "engine/run/late_exchange.h"
#include "engine/run/record.h"
#include "engine/run/replay.h"
#include "engine/run/run_folder.h"
#include "engine/run/run_identity.h"

namespace warpath {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr std::chrono::milliseconds kTick{100};

class Session {
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
        policy_(make_stop(options_.run)) {
    refuse_existing_run();
    setup_.runner.prepare(spec_);
    folder_.emplace(setup_.folder);
    refuse_existing_run();  // another process may have come between
    identity_.emplace(RunIdentity::Parts{.spec = spec_,
                                         .options = options_,
                                         .device = device_,
                                         .runner_text = setup_.runner_text,
                                         .folder = *folder_,
                                         .sync = sync_ != SyncRule::never});
    campaign_.emplace(
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
            .record_priors = [this](const PriorsEvent& e) { record_said(e, e.key, "the prior"); }},
        options_, [this](const ProposalsEvent& e) { record_said(e, e.key, e.proposer); });
    if (setup_.only_late) campaign_->keep_finals();
    record_.emplace(*folder_, *campaign_, record_names(), options_);
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
      if (!interrupted_ && !setup_.only_late) finals();
    }
    evaluator_->cancel();
    log_->sync();
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

  RecordNames record_names() const {
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

  void start_run() {
    const RunEvent run = identity_->event();
    identity_->write(run, setup_.environment_json, setup_.prior.files());
    log_.emplace(EventWriter::create(folder_->file("events.jsonl"), encode(run), sync_));
  }

  void continue_run() {
    const std::filesystem::path path = folder_->file("events.jsonl");
    std::optional<Snapshot> snapshot;
    std::string note;
    try {
      snapshot = load_snapshot(folder_->file("search_state.json"));
    } catch (const Error& e) {
      note = std::string(e.what()) + "; the whole log is replayed instead";
    }
    const LogSummary log = scan_log(path, snapshot ? &*snapshot : nullptr);
    identity_->refuse_other(log.run, path);
    identity_->mend([this](std::string_view text) { observer_.on_note(text); });
    if (snapshot && !log.snapshot_fits) {
      snapshot.reset();
      note = folder_->file("search_state.json").string() +
             ": not a state of this log; the whole log is replayed instead";
    }
    if (!note.empty()) observer_.on_note(note);
    if (log.torn)
      observer_.on_note(path.string() + ":" + std::to_string(log.end.lines + 1) +
                        ": the last line was cut short and is dropped");
    replay(path, std::move(snapshot), *campaign_, *record_);
    log_.emplace(path, log.end, sync_);
    identity_->write_config(log.run.config);  // budgets may have changed
    saved_lines_ = log.end.lines;
  }

  void record_said(const Event& event, const Hash128& key, const std::string& who) {
    if (!log_)
      throw bad_input(setup_.folder.string() + "/events.jsonl", who + " at " + key.hex(),
                      "what it said there");
    log_->append(encode(event), false);
  }

  // Evaluating.

  [[nodiscard]] double seconds() const {
    return earlier_seconds_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  void submit(std::uint64_t sequence, NodeId node, double incumbent_ns) {
    const KernelSpace& space = campaign_->space();
    evaluator_->submit({.sequence = sequence,
                        .variant = space.variant(node),
                        .key = space.key(node),
                        .seed = campaign_->input_seed(sequence),
                        .incumbent_ns = incumbent_ns});
  }

  void measure_baseline() {
    submit(kBaselineSequence, NodeId{0}, 0);
    std::optional<Completion> done;
    while (!done && !abandon_.stop_requested()) {
      observer_.on_progress(progress());
      done = evaluator_->wait(kTick);
    }
    if (!done) return;
    const BaselineEvent event{.key = campaign_->space().key(NodeId{0}),
                              .outcome = recordable(std::move(done->outcome)),
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

  /// Selects, submits and applies until a stop policy, the person or the space ends it.
  ///
  /// The graph depends on which outcomes a selection has seen. In the deterministic mode that is
  /// fixed: outcomes are applied in dispatch order, and dispatch n is selected right after outcome
  /// n - window, whatever is under way. A stop therefore goes on selecting as outcomes arrive and
  /// only stops submitting; what is selected but not evaluated waits for the next session. With
  /// late proposers every selection also waits for what they say of the nodes that the one before
  /// opened, and a stop is at once.
  void search() {
    late_.emplace(setup_.late, *campaign_, *log_, options_.search.deterministic);
    late_->tell_past();
    while (!abandon_.stop_requested()) {
      const Progress now = campaign_->progress(seconds());
      Progress timeless = now;
      timeless.seconds = 0;
      const std::string ended(reason(timeless));
      interrupted_ = stop_.stop_requested();
      const bool held = interrupted_ || (ended.empty() && !reason(now).empty());
      stop_reason_ = interrupted_ ? "interrupted" : std::string(reason(now));
      const bool goes_on = ended.empty() && !held;
      // selecting without their answers would be another search
      if (held && options_.search.deterministic && !setup_.late.empty()) break;
      if (goes_on && !exchange(timeless)) {
        await();
        continue;
      }
      if (ended.empty() && (!held || options_.search.deterministic)) select(timeless);
      if (!held) submit_pending();
      if (goes_on && late_->has_offers()) continue;
      if (apply_due()) continue;
      if (submitted_.empty() && (!goes_on || (!late_->waiting() && !late_came(timeless)))) break;
      await();
    }
    interrupted_ = interrupted_ || abandon_.stop_requested();
    if (interrupted_) stop_reason_ = "interrupted";
    if (stop_reason_.empty())
      stop_reason_ = setup_.only_late ? "told candidates only" : "nothing left to try";
  }

  /// What somebody tells is evaluated whatever the run's limits are.
  [[nodiscard]] std::string_view reason(const Progress& now) const {
    return setup_.only_late ? std::string_view() : policy_->reason(now);
  }
  [[nodiscard]] std::uint64_t remaining(const Progress& now, std::uint64_t dispatched) const {
    return setup_.only_late ? UINT64_MAX : policy_->remaining(now, dispatched);
  }
  bool exchange(const Progress& now) {
    return late_->exchange([&](std::uint64_t dispatched) { return remaining(now, dispatched); });
  }
  /// A last look for what came while nothing was waited for any more.
  bool late_came(const Progress& now) { return exchange(now) && late_->arrived(); }

  [[nodiscard]] std::size_t lanes() const {
    const int lanes =
        options_.search.in_flight > 0 ? options_.search.in_flight : evaluator_->useful();
    return static_cast<std::size_t>(std::max(lanes, 1));
  }

  void select(const Progress& now) {
    const std::size_t window =
        options_.search.deterministic ? static_cast<std::size_t>(options_.search.window) : lanes();
    while (campaign_->pending().size() < window && campaign_->may_select() &&
           remaining(now, campaign_->dispatched()) > 0) {
      const std::uint64_t next = campaign_->dispatched();
      const std::optional<DispatchEvent> event =
          setup_.only_late ? campaign_->select_first() : campaign_->select();
      if (event) {
        log_->append(encode(*event), false);
        record_->add(*event);
      } else if (setup_.only_late) {
        return;
      } else {
        log_->append(encode(IdleEvent{.sequence = next}), false);
      }
      // their answers come before the next selection, however the log is cut
      if (options_.search.deterministic && late_->has_offers()) return;
    }
  }

  void submit_pending() {
    for (const Campaign::Pending& p : campaign_->pending()) {
      if (submitted_.size() >= lanes()) return;
      if (ready_.contains(p.sequence) || !submitted_.insert(p.sequence).second) continue;
      submit(p.sequence, p.node, p.incumbent_ns);
    }
  }

  /// Applies one outcome if one is due. The caller selects before it applies the next.
  bool apply_due() {
    if (ready_.empty()) return false;
    const auto it = options_.search.deterministic
                        ? ready_.find(campaign_->pending().front().sequence)
                        : ready_.begin();
    if (it == ready_.end()) return false;
    const std::uint64_t sequence = it->first;
    Outcome outcome = std::move(it->second);
    ready_.erase(it);
    apply(sequence, std::move(outcome));
    return true;
  }

  void await() {
    if (std::optional<Completion> done = evaluator_->wait(kTick)) {
      submitted_.erase(done->sequence);
      ready_.emplace(done->sequence, std::move(done->outcome));
    } else {
      observer_.on_progress(progress());
    }
  }

  void apply(std::uint64_t sequence, Outcome outcome) {
    OutcomeEvent event{.sequence = sequence,
                       .outcome = recordable(std::move(outcome)),
                       .at = unix_now(),
                       .seconds = seconds()};
    campaign_->judge(event.outcome);
    log_->append(encode(event), true);
    const Campaign::Applied applied = campaign_->apply(event, "events.jsonl");
    record_->add(event, applied);
    late_->tell(applied.node);
    const KernelSpace& space = campaign_->space();
    observer_.on_outcome({.sequence = sequence,
                          .node = applied.node,
                          .key = space.key(applied.node),
                          .move = space.instance(applied.node).text(),
                          .outcome = event.outcome,
                          .speedup = applied.speedup,
                          .improved = applied.improved});
    observer_.on_progress(progress());
    if (applied.improved) write_summary(result());
    if (++since_snapshot_ >= static_cast<std::uint64_t>(options_.record.snapshot_every))
      save_snapshot();
  }

  void finals() {
    const bool decided = time_finalists({.campaign = *campaign_,
                                         .log = *log_,
                                         .record = *record_,
                                         .evaluator = *evaluator_,
                                         .observer = observer_,
                                         .lanes = lanes(),
                                         .seconds = [this] { return seconds(); },
                                         .tick = [this] { observer_.on_progress(progress()); },
                                         .stop = stop_,
                                         .abandon = abandon_});
    if (decided) return;
    interrupted_ = true;
    stop_reason_ = "interrupted";
  }

  // Saving and telling.

  void save_snapshot() {
    since_snapshot_ = 0;
    if (campaign_->search().has_strategy() || log_->position().lines == saved_lines_) return;
    log_->sync();  // a snapshot is never ahead of the log
    const Snapshot snapshot{.log = log_->position(),
                            .arenas = campaign_->search().graph().arenas(),
                            .state = campaign_->search().state(),
                            .links = campaign_->links()};
    warpath::save_snapshot(snapshot, folder_->file("search_state.json"), sync_ != SyncRule::never);
    saved_lines_ = snapshot.log.lines;
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
        .in_flight = submitted_.size(),
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
    r.best_key = campaign_->space().key(NodeId{0});
    r.stop_reason = stop_reason_;
    r.interrupted = interrupted_;
    if (!campaign_->begun()) {
      r.interrupted = campaign_->baseline_problem().empty();
      r.stop_reason = r.interrupted ? "interrupted" : "baseline " + campaign_->baseline_problem();
      return r;
    }
    r.baseline_ok = true;
    const Campaign::Standing standing = campaign_->standing();
    r.best_key = campaign_->space().key(standing.node);
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
    r.improved = r.measured && r.speedup >= 1 + options_.run.min_gain;
    r.builds = campaign_->progress(0).evaluations;
    r.by_status = campaign_->by_status();
    r.verdict = *standing.verdict;
    r.fingerprint = campaign_->search().fingerprint();
    return r;
  }

  [[nodiscard]] Dismissal dismissal(const Finals::Dismissed& one) const {
    const KernelSpace& space = campaign_->space();
    Dismissal out{.key = space.key(one.node),
                  .move = space.instance(one.node).text(),
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
  std::optional<Campaign> campaign_;
  std::optional<RunRecord> record_;
  std::optional<EventWriter> log_;    // unset while the log is replayed
  std::optional<LateExchange> late_;  // while a search is under way
  std::unique_ptr<Evaluator> evaluator_;
  std::set<std::uint64_t> submitted_;       // under way
  std::map<std::uint64_t, Outcome> ready_;  // finished, not yet due
  Clock::time_point start_ = Clock::now();
  double earlier_seconds_ = 0;
  std::uint64_t earlier_builds_ = 0;
  std::uint64_t since_snapshot_ = 0;
  std::uint64_t saved_lines_ = 0;
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
