#include "experiments/ship/deployment.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/hash.h"
#include "engine/json/json_reader.h"
#include "experiments/ship/application.h"
#include "experiments/ship/kernel_in_place.h"
#include "experiments/ship/tree_change.h"

namespace warpath {
namespace {

constexpr double kConfidence = 0.99;
constexpr int kDraws = 10000;
constexpr std::size_t kMostDeploymentBytes = std::size_t{64} << 20U;

std::string text_of(const Project& project, const std::string& file) {
  const std::string path = project.at(file).string();
  return read_text_file(path, kMostDeploymentBytes, path);
}

/// Of the files that the project says stay as they are.
Hash128 context_of(const Project& project) {
  Hasher hasher;
  for (const std::string& file : project.context_files) hasher.add(text_of(project, file));
  return hasher.digest();
}

/// ln(original / best) of each pair.
std::vector<double> logs_of(const Deployment& timed) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < timed.best.size(); ++i)
    logs.push_back(std::log(timed.original[i] / timed.best[i]));
  return logs;
}

double median_speedup(const Deployment& timed) {
  return std::exp(median(logs_of(timed)));
}

class Attempt {
 public:
  Attempt(const Project& project,
          const Application& application,
          TreeChange& change,
          void (*say)(const std::string&))
      : project_(project), application_(application), change_(change), say_(say) {}

  Deployment run() {
    const Hash128 context = context_of(project_);
    say_("the original: build, test, benchmark");
    std::string why = application_.build();
    if (why.empty()) why = application_.test();
    if (why.empty()) static_cast<void>(application_.time(why));  // also warms up
    if (!why.empty()) return ended(Deployment::End::failed, "the original application: " + why);
    say_("the best kernel: build, test, benchmark");
    why = put(true);
    if (why.empty()) why = application_.test();
    if (why.empty()) static_cast<void>(application_.time(why));
    bool faster = false;
    for (int round = 0; round < 2 && why.empty(); ++round) {
      if (round > 0) say_("most pairs say faster, their interval does not: as many again");
      for (int pair = 0; pair < project_.pairs && why.empty(); ++pair) why = time_pair();
      if (!why.empty()) break;
      faster = is_faster(out_, project_.min_gain);
      if (faster || median_speedup(out_) < 1 + project_.min_gain) break;
    }
    if (!why.empty()) return ended(Deployment::End::rolled_back, why);
    if (context_of(project_) != context)
      return ended(Deployment::End::failed, "a file of context_files was changed meanwhile");
    return ended(faster ? Deployment::End::deployed : Deployment::End::rolled_back,
                 faster ? ""
                        : "the application is not faster by " + percent_text(project_.min_gain, 1) +
                              " with its 99 % interval above 1");
  }

 private:
  Deployment ended(Deployment::End end, std::string why) {
    out_.end = end, out_.why = std::move(why);
    return out_;
  }

  /// Empty, or why the tree does not build.
  std::string put(bool changed) {
    if (change_.is_changed() == changed) return "";
    change_.put(changed);
    return application_.build();
  }

  std::string time_pair() {
    // the side that is built comes first: one build a pair, and neither side is always second
    const bool first = change_.is_changed();
    for (const bool side : {first, !first}) {
      std::string why = put(side);
      const double seconds = why.empty() ? application_.time(why) : 0;
      if (!why.empty()) return (side ? "" : "with the original again: ") + why;
      (side ? out_.best : out_.original).push_back(seconds);
    }
    say_("pair " + std::to_string(out_.best.size()) + ": " + number_text(out_.original.back(), 4) +
         " -> " + number_text(out_.best.back(), 4));
    return "";
  }

  const Project& project_;
  const Application& application_;
  TreeChange& change_;
  void (*say_)(const std::string&);
  Deployment out_;
};

std::string report_of(const Shipment& shipment, const Deployment& done) {
  return nlohmann::json{{"kernel", nlohmann::json::parse(shipment.provenance_json())},
                        {"original", done.original},
                        {"best", done.best},
                        {"speedup", done.speedup},
                        {"speedup_interval", {done.interval->low, done.interval->high}}}
      .dump();
}

}  // namespace

bool is_faster(Deployment& timed, double min_gain) {
  const std::vector<double> logs = logs_of(timed);
  timed.speedup = std::exp(trimmed_mean(logs));
  timed.interval = exponential(bootstrap_trimmed_mean(logs, kConfidence, kDraws, 1));
  return timed.speedup >= 1 + min_gain && timed.interval->low > 1;
}

Deployment deploy(const Project& project,
                  const Shipment& shipment,
                  FolderFiles exported,
                  void (*say)(const std::string& line),
                  const std::stop_token& stop,
                  const std::stop_token& abandon) {
  const std::string before = text_of(project, project.target_file);
  std::string after = with_best_kernel(project, shipment, before);
  TreeChange change(project, before, std::move(after), std::move(exported),
                    shipment.folder().string());
  const auto restore = [&] {
    const bool touched = change.was_changed();
    change.drop();
    if (!touched) return;
    say("restored: " + project.target_file);
    const std::string why = Application(project, abandon).build();
    if (!why.empty()) say("the restored tree: " + why);
  };
  Deployment out;
  try {
    out = Attempt(project, Application(project, stop), change, say).run();
    if (out.end == Deployment::End::deployed) {
      const bool built = change.is_changed();
      change.keep(report_of(shipment, out));
      const std::string why = built ? "" : Application(project, stop).build();
      if (why.empty()) return out;
      out.end = Deployment::End::rolled_back, out.why = why;
    }
  } catch (const Interrupted&) {
    out.end = Deployment::End::failed, out.why = "interrupted";
  } catch (...) {
    change.drop();
    throw;
  }
  try {
    restore();
  } catch (const Interrupted&) {
    say("the restored tree was not built");
  }
  return out;
}

}  // namespace warpath
