#include "experiments/ship/tree_change.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/log/run_folder.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostFileBytes = std::size_t{64} << 20U;

fs::path folder_of(const Project& project) {
  return project.root / ".warpath-deploy";
}

void require(const std::error_code& error, const fs::path& path) {
  if (error) throw environment_error(path.string() + ": " + error.message());
}

void write_file(const fs::path& path, const std::string& text, fs::perms mode) {
  write_file_atomically(path, text);
  std::error_code error;
  fs::permissions(path, mode, error);
  require(error, path);
}

void remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  require(error, path);
}

std::string hash_of(const fs::path& file) {
  return hash128(read_text_file(file.string(), kMostFileBytes, file.string())).hex();
}

/// Throws if a file that the journal names is neither as before nor as after the change.
void refuse_edited(const fs::path& root, const JsonCursor& journal, const fs::path& backup) {
  std::error_code absent;
  const JsonCursor files = journal.at("files");
  for (const auto& [name, hashes] : files.value().items()) {
    const fs::path file = root / name;
    if (!fs::exists(file, absent)) continue;
    const std::string now = hash_of(file);
    const JsonCursor known = files.at(name);
    bool same = false;
    for (std::size_t i = 0; i < known.size(); ++i) same = same || known.element(i).text() == now;
    if (!same)
      throw bad_input(file.string(), "a file that was edited since",
                      "the text of the deployment; the original is " + backup.string());
  }
}

}  // namespace

TreeChange::TreeChange(const Project& project,
                       std::string before,
                       std::string after,
                       FolderFiles exported,
                       const std::string& run)
    : project_(project),
      target_(project.at(project.target_file)),
      folder_(folder_of(project)),
      before_(std::move(before)),
      after_(std::move(after)),
      exported_(std::move(exported)) {
  if (!exported_.empty()) refuse_existing(project.at(project.export_folder));
  std::error_code error;
  mode_ = fs::status(target_, error).permissions();
  require(error, target_);
  if (!fs::create_directory(folder_, error)) {
    require(error, folder_);
    throw bad_input(project.root.string(), "a tree with a deployment",
                    "--revert to take it back first");
  }
  json journal{{"schema", 1},
               {"run", run},
               {"target_file", project.target_file},
               {"mode", static_cast<unsigned>(mode_)},
               {"export_folder", exported_.empty() ? "" : project.export_folder}};
  journal["files"][project.target_file] = {hash128(before_).hex(), hash128(after_).hex()};
  for (const auto& [name, text] : exported_)
    journal["files"][project.export_folder + "/" + name] = {hash128(text).hex()};
  journal_ = journal.dump();
  write_file(folder_ / "backup", before_, mode_);
  write_file_atomically(folder_ / "journal.json", journal_ + "\n");
}

void TreeChange::write_target(const std::string& text) const {
  write_file(target_, text, mode_);
}

void TreeChange::put(bool changed) {
  if (changed == changed_) return;
  was_changed_ = true;
  const fs::path place = exported_.empty() ? "" : project_.at(project_.export_folder);
  const fs::path aside = folder_ / "export";
  std::error_code error;
  if (changed) {
    if (!exported_.empty() && !fs::exists(aside, error)) write_new_folder(aside, exported_);
    if (!exported_.empty()) fs::create_directories(place.parent_path(), error);
    if (!exported_.empty()) fs::rename(aside, place, error);
    require(error, place);
    write_target(after_);
  } else {
    write_target(before_);
    if (!exported_.empty()) fs::rename(place, aside, error);
    require(error, place);
  }
  changed_ = changed;
}

void TreeChange::keep(const std::string& report) {
  put(true);
  json journal = json::parse(journal_);
  journal["deployed"] = json::parse(report);
  write_file_atomically(folder_ / "journal.json", json_text(journal, 2) + "\n");
}

void TreeChange::drop() {
  put(false);
  remove_tree(folder_);
}

bool TreeChange::has_change(const Project& project) {
  std::error_code absent;
  return fs::exists(folder_of(project), absent);
}

bool TreeChange::is_kept(const Project& project) {
  const fs::path file = folder_of(project) / "journal.json";
  std::error_code absent;
  return fs::exists(file, absent) && read_json_file(file.string()).contains("deployed");
}

void TreeChange::revert(const Project& project) {
  const fs::path folder = folder_of(project), file = folder / "journal.json";
  std::error_code absent;
  if (!has_change(project)) throw bad_input(project.root.string(), "", "a tree with a deployment");
  // without a journal nothing was touched
  if (fs::exists(file, absent)) {
    const json document = read_json_file(file.string());
    const JsonCursor journal(document, file.string());
    refuse_edited(project.root, journal, folder / "backup");
    const fs::path backup = folder / "backup";
    write_file(project.root / journal.at("target_file").text(),
               read_text_file(backup.string(), kMostFileBytes, backup.string()),
               static_cast<fs::perms>(journal.at("mode").unsigned_integer()));
    const std::string exported = journal.at("export_folder").text();
    if (!exported.empty()) remove_tree(project.root / exported);
  }
  remove_tree(folder);
}

}  // namespace warpath
