#include "experiments/study/study_spaces.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "experiments/study/landscape_recording.h"
#include "runners/replay/recorded_graph.h"
#include "runners/replay/recorded_space.h"
#include "runners/synthetic/landscape.h"

namespace warpath {
namespace {

constexpr std::uint64_t kLandscapeSeed = 1;

/// Every point of a landscape, as if it had been measured.
RecordedSpace landscape_space(const std::string& preset, const std::string& place) {
  const Landscape landscape(with_preset({}, preset, place), kLandscapeSeed);
  std::vector<RecordedSpace::Axis> axes;
  for (int k = 0; k < landscape.knobs(); ++k) {
    RecordedSpace::Axis axis{.name = "k" + std::to_string(k), .texts = {}, .values = {}};
    for (int level = 0; level < landscape.levels(); ++level) {
      axis.texts.push_back(std::to_string(level));
      axis.values.push_back(level);
    }
    axes.push_back(std::move(axis));
  }
  std::vector<RecordedSpace::Row> rows;
  Landscape::Point point(static_cast<std::size_t>(landscape.knobs()), 0);
  for (;;) {
    RecordedSpace::Row row{.point = std::vector<Level>(point.begin(), point.end()),
                           .status = landscape.status(point),
                           .compile_seconds = 1,
                           .run_seconds = 0.1};
    if (row.status == Status::ok) row.time_ns = landscape.time_ns(point);
    rows.push_back(std::move(row));
    std::size_t i = 0;
    while (i < point.size() && ++point[i] == landscape.levels()) point[i++] = 0;
    if (i == point.size()) break;
  }
  return {"synthetic-" + preset, "synthetic", std::move(axes), std::move(rows), place};
}

bool looks_like_a_space(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".graph.gz");
}

/// Files below a folder, in order; a file stands for itself.
std::vector<std::filesystem::path> candidates(const std::string& place) {
  if (std::filesystem::is_regular_file(place)) return {place};
  if (!std::filesystem::is_directory(place))
    throw bad_input("--spaces", place, "a folder or file of recorded spaces");
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
    if (entry.is_regular_file() && looks_like_a_space(entry.path())) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<StudySpace> study_spaces(const Study& study,
                                     const std::vector<std::string>& folders,
                                     const std::function<void(const std::string&)>& note) {
  std::vector<StudySpace> out;
  std::set<std::string> names;
  std::set<std::string> contents;
  const auto take = [&](std::shared_ptr<const Recording> recording, const std::string& from) {
    std::string content = recording->device();
    if (const auto* const space = dynamic_cast<const RecordedSpace*>(recording.get())) {
      for (std::size_t i = 0; i < space->axes(); ++i) content += "," + space->axis(i).name;
    }
    if (const auto* const graph = dynamic_cast<const RecordedGraph*>(recording.get()))
      content += " " + graph->spec().name + " " + graph->node(0).key.hex();
    content +=
        " " + std::to_string(recording->rows().size()) + " " + std::to_string(recording->best_ns());
    if (!contents.insert(content).second)
      return note(from + " is left out: the same space came before");
    if (!names.insert(recording->name()).second)
      return note(from + " is left out: another space is called " + recording->name());
    out.push_back(scaled(std::move(recording), study));
  };
  for (const std::string& preset : study.synthetic)
    take(std::make_shared<RecordedSpace>(landscape_space(preset, study.name + ":/synthetic")),
         preset);
  for (const std::string& name : study.landscapes) {
    names.insert(name);
    out.push_back(scaled(landscape_recording(name, study.name + ":/landscapes"), study));
  }
  for (const std::filesystem::path& file : study.spaces) take(load_recording(file), file.string());
  for (const std::string& folder : folders) {
    for (const std::filesystem::path& file : candidates(folder)) {
      try {
        take(load_recording(file), file.string());
      } catch (const Error& e) {
        if (std::filesystem::is_regular_file(folder)) throw;
        note(std::string(e.what()) + "; left out");
      }
    }
  }
  if (out.empty())
    throw bad_input(study.name, "no space", "spaces or synthetic in the study, or --spaces DIR");
  std::sort(out.begin(), out.end(), [](const StudySpace& a, const StudySpace& b) {
    return a.recording->name() < b.recording->name();
  });
  return out;
}

}  // namespace warpath
